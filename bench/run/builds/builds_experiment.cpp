#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "config/config_json.h"
#include "config/provider.h"
#include "model/metric_catalogue.h"
#include "run/builds.h"
#include "util/error.h"

namespace memduel {
namespace {

using nlohmann::json;

namespace fs = std::filesystem;

/// Finds programs in both builds and keeps what was found.
class Finder {
 public:
  Finder(const BuildPair& builds, BuildDuel& duel) : builds_(builds), duel_(duel) {}

  [[nodiscard]] bool knows(const std::string& program) const {
    return is_in_build(builds_.a, program) || is_in_build(builds_.b, program);
  }
  /// The candidate first: a name that is wrong is wrong in both.
  std::pair<std::string, std::string> find(const std::string& program) {
    duel_.b.push_back(find_in_build(builds_.b, program, builds_.a));
    duel_.a.push_back(find_in_build(builds_.a, program, builds_.b));
    return {duel_.a.back().program.string(), duel_.b.back().program.string()};
  }

 private:
  const BuildPair& builds_;
  BuildDuel& duel_;
};

/// Where a program finds the libraries of its own build.
void add_library_path(Variant& variant, const std::vector<BuildProgram>& programs) {
  std::string path;
  std::set<std::string> seen;
  for (const BuildProgram& program : programs) {
    if (program.library_path.empty() || !seen.insert(program.library_path).second) continue;
    path += (path.empty() ? "" : ":") + program.library_path;
  }
  if (!path.empty()) variant.env["LD_LIBRARY_PATH"] = path;
}

void complete_variants(BuildDuel& duel, const BuildPair& builds) {
  std::vector<Variant>& variants = duel.document.variants;
  add_library_path(variants[0], duel.a);
  add_library_path(variants[1], duel.b);
  if (builds.calibrate) variants[1].twin_of = builds.arm_a;
}

const Variant& chosen_arm(const Document& document, const std::optional<std::string>& arm,
                          const std::string& origin) {
  const std::string& wanted = arm ? *arm : document.baseline;
  const auto found = std::ranges::find(document.variants, wanted, &Variant::name);
  if (found != document.variants.end()) return *found;
  throw Error(ExitCode::usage, fmt::format("found no variant \"{}\"", wanted),
              json_place(origin, {"variants"}),
              "use --variant to name the variant that both builds run");
}

/// The argv of a process in this variant, before "append".
const Argv& argv_of(const JobProcess& process, const Variant& variant) {
  const auto own = variant.argv.find(process.role);
  return own == variant.argv.end() ? process.argv : own->second;
}

/// Gives each variant the paths of its own build.
void name_programs(Variant& a, Variant& b, const Job& job, Finder& finder) {
  for (const JobProcess& process : job.processes) {
    Argv argv = argv_of(process, a);
    if (!finder.knows(argv.front())) continue;
    const auto [of_a, of_b] = finder.find(argv.front());
    argv.front() = of_a;
    a.argv[process.role] = argv;
    argv.front() = of_b;
    b.argv[process.role] = argv;
  }
}

/// From the root of the repository, the folder in which a job of `variant` starts whose config lies
/// in `directory`. Absent as start_in_worktrees says.
std::optional<fs::path> folder_in_repository(const Workload& workload, const Variant& variant,
                                             const fs::path& root, const fs::path& directory) {
  if (workload.kind() != kCommandKind) return std::nullopt;
  const bool apart = std::ranges::any_of(
      workload.job.processes, [](const JobProcess& process) { return !process.cwd.empty(); });
  if (apart && !variant.cwd) return std::nullopt;
  const std::string cwd = variant.cwd.value_or(workload.job.cwd);
  if (cwd.find('{') != std::string::npos) return std::nullopt;
  fs::path folder =
      fs::weakly_canonical(directory / cwd).lexically_relative(fs::weakly_canonical(root));
  if (folder.empty() || *folder.begin() == "..") return std::nullopt;
  return folder;
}

/// `folder` of the worktree `build`.
std::string folder_of_worktree(const fs::path& build, const fs::path& folder) {
  const fs::path own = fs::weakly_canonical(build / folder);
  if (!fs::is_directory(own))
    throw Error(ExitCode::usage, "found no such folder, but the config's processes run in it",
                own.string(),
                "commit it, or use the candidate's folder for both revisions with --keep");
  return own.string();
}

json describe_file(const BuildFile& file) {
  json described = {{"path", file.path.string()}, {"code_sha256", file.code_sha256}};
  if (!file.build_id.empty()) described["build_id"] = file.build_id;
  return described;
}

}  // namespace

std::optional<std::string> arm_name_for(const std::string& name) {
  constexpr std::size_t kMostCharacters = 40;
  std::string arm = name;
  std::ranges::replace(arm, '/', '-');
  const bool plain = std::ranges::all_of(arm, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_.-").find(c) != std::string_view::npos;
  });
  const bool fits = !arm.empty() && arm.size() <= kMostCharacters &&
                    std::isalnum(static_cast<unsigned char>(arm.front())) != 0;
  return plain && fits ? std::optional(arm) : std::nullopt;
}

BuildDuel duel_of_program(const BuildPair& builds, const std::vector<std::string>& words,
                          const std::filesystem::path& cwd_a, const std::filesystem::path& cwd_b) {
  BuildDuel duel;
  Finder finder(builds, duel);
  const auto [of_a, of_b] = finder.find(words.front());
  Argv argv = words;
  argv.front() = of_a;
  duel.document = document_of_program("compare", argv, cwd_a.string());
  Variant a;
  a.name = builds.arm_a;
  Variant b;
  b.name = builds.arm_b;
  b.argv[kCommand] = words;
  b.argv[kCommand].front() = of_b;
  if (cwd_a != cwd_b) b.cwd = cwd_b.string();
  duel.document.variants = {std::move(a), std::move(b)};
  duel.document.baseline = builds.arm_a;
  complete_variants(duel, builds);
  return duel;
}

BuildDuel duel_of_config(const BuildPair& builds, Document document,
                         const std::optional<std::string>& arm, const std::string& origin) {
  BuildDuel duel;
  Finder finder(builds, duel);
  Variant a = chosen_arm(document, arm, origin);
  Variant b = a;
  a.name = builds.arm_a;
  b.name = builds.arm_b;
  if (document.workload.kind() == kCommandKind) {
    name_programs(a, b, document.workload.job, finder);
  } else {
    const auto [of_a, of_b] = finder.find(kWorkerProgram);
    a.env[kWorkerVariable] = of_a;
    b.env[kWorkerVariable] = of_b;
  }
  if (duel.a.empty())
    throw Error(ExitCode::usage, "found no process whose program is in the builds",
                json_place(origin, {"workload", "processes"}),
                "start argv with a path in the builds");
  document.variants = {std::move(a), std::move(b)};
  document.baseline = builds.arm_a;
  document.ablation.reset();  // it is about all variants
  duel.document = std::move(document);
  complete_variants(duel, builds);
  return duel;
}

void start_in_worktrees(BuildDuel& duel, const BuildPair& builds, const fs::path& root,
                        const fs::path& directory) {
  std::vector<Variant>& variants = duel.document.variants;
  const auto folder = folder_in_repository(duel.document.workload, variants[0], root, directory);
  if (!folder) return;
  variants[0].cwd = folder_of_worktree(builds.a, *folder);
  variants[1].cwd = folder_of_worktree(builds.b, *folder);
}

std::vector<WorktreeArguments> arguments_in_worktrees(const Document& document,
                                                      const std::optional<std::string>& arm,
                                                      const std::string& origin,
                                                      const fs::path& root,
                                                      const fs::path& directory) {
  const Variant& chosen = chosen_arm(document, arm, origin);
  const auto folder = folder_in_repository(document.workload, chosen, root, directory);
  if (!folder) return {};
  std::vector<WorktreeArguments> all;
  for (const JobProcess& process : document.workload.job.processes) {
    Argv words = argv_of(process, chosen);
    if (const auto more = chosen.append.find(process.role); more != chosen.append.end())
      words.insert(words.end(), more->second.begin(), more->second.end());
    words.erase(words.begin());
    all.push_back({std::move(words), fs::weakly_canonical(root) / *folder, *folder,
                   fmt::format("{}, role {}", origin, process.role)});
  }
  return all;
}

bool same_programs(const BuildDuel& duel) {
  return std::equal(duel.a.begin(), duel.a.end(), duel.b.begin(), duel.b.end(), same_build);
}

json describe_programs(const std::vector<BuildProgram>& programs) {
  json all = json::array();
  for (const BuildProgram& program : programs) {
    json described = describe_file(program.files.front());
    described["libraries"] = json::array();
    for (std::size_t i = 1; i < program.files.size(); ++i)
      described["libraries"].push_back(describe_file(program.files[i]));
    all.push_back(std::move(described));
  }
  return all;
}

}  // namespace memduel
