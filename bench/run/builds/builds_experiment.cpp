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

/// Both arms get a value as soon as one needs it.
void add_library_path(json& env, const std::vector<BuildProgram>& programs, bool needed) {
  if (!env.is_object()) env = json::object();
  if (!needed) return;
  std::string path;
  std::set<std::string> seen;
  for (const BuildProgram& program : programs) {
    if (program.library_path.empty() || !seen.insert(program.library_path).second) continue;
    path += (path.empty() ? "" : ":") + program.library_path;
  }
  if (!path.empty()) env["LD_LIBRARY_PATH"] = path;
}

bool needs_library_path(const BuildDuel& duel) {
  const auto needs = [](const BuildProgram& program) { return !program.library_path.empty(); };
  return std::ranges::any_of(duel.a, needs) || std::ranges::any_of(duel.b, needs);
}

void complete_arms(BuildDuel& duel, const BuildPair& builds) {
  json& arms = duel.document["variants"];
  const bool needed = needs_library_path(duel);
  add_library_path(arms[0]["env"], duel.a, needed);
  add_library_path(arms[1]["env"], duel.b, needed);
  if (builds.calibrate) arms[1]["twin_of"] = builds.arm_a;
}

const json& chosen_arm(const json& document, const std::optional<std::string>& arm,
                       const std::string& origin) {
  const std::string wanted = arm.value_or(document.value("baseline", std::string()));
  const auto arms = document.find("variants");
  if (arms != document.end() && arms->is_array())
    for (const json& one : *arms)
      if (one.is_object() && one.value("name", std::string()) == wanted) return one;
  throw Error(ExitCode::usage, fmt::format("found no variant \"{}\"", wanted),
              json_place(origin, {"variants"}), "--variant names the variant that both builds run");
}

/// The argv of a process in this arm, before "append".
json argv_of(const json& process, const json& arm) {
  const std::string role = process.value("role", std::string());
  if (arm.contains("argv") && arm.at("argv").contains(role)) return arm.at("argv").at(role);
  return process.value("argv", json::array());
}

/// Gives each arm the paths of its own build.
void name_programs(json& a, json& b, const json& workload, Finder& finder) {
  for (const json& process : workload.value("processes", json::array())) {
    json argv = argv_of(process, a);
    if (!argv.is_array() || argv.empty() || !argv.front().is_string()) continue;
    const std::string program = argv.front();
    if (!finder.knows(program)) continue;
    const auto [of_a, of_b] = finder.find(program);
    const std::string role = process.value("role", std::string());
    argv.front() = of_a;
    a["argv"][role] = argv;
    argv.front() = of_b;
    b["argv"][role] = argv;
  }
}

/// From the root of the repository, the folder in which a job of `arm` starts whose config lies in
/// `directory`. Absent as start_in_worktrees says.
std::optional<fs::path> folder_in_repository(const json& document, const json& arm,
                                             const fs::path& root, const fs::path& directory) {
  const json workload = document.value("workload", json::object());
  if (workload.value("kind", std::string()) != "command") return std::nullopt;
  const json processes = workload.value("processes", json::array());
  const bool apart =
      std::ranges::any_of(processes, [](const json& process) { return process.contains("cwd"); });
  if (apart && !arm.contains("cwd")) return std::nullopt;
  const std::string cwd = arm.value("cwd", workload.value("cwd", std::string(".")));
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
    throw Error(ExitCode::usage, "found no such folder, in which the config's processes run",
                own.string(), "commit it, or give both revisions the candidate's with --keep");
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
  std::vector<std::string> argv_a = words;
  std::vector<std::string> argv_b = words;
  argv_a.front() = of_a;
  argv_b.front() = of_b;
  json b = {{"name", builds.arm_b}, {"env", json::object()}, {"argv", {{kCommand, argv_b}}}};
  if (cwd_a != cwd_b) b["cwd"] = cwd_b.string();
  duel.document = {
      {"name", "compare"},
      {"workload",
       {{"kind", "command"},
        {"processes", {{{"role", kCommand}, {"argv", argv_a}, {"cwd", cwd_a.string()}}}}}},
      {"variants", {{{"name", builds.arm_a}, {"env", json::object()}}, b}},
      {"baseline", builds.arm_a},
  };
  complete_arms(duel, builds);
  return duel;
}

BuildDuel duel_of_config(const BuildPair& builds, json document,
                         const std::optional<std::string>& arm, const std::string& origin) {
  BuildDuel duel;
  Finder finder(builds, duel);
  json a = chosen_arm(document, arm, origin);
  json b = a;
  a["name"] = builds.arm_a;
  b["name"] = builds.arm_b;
  const json workload = document.value("workload", json::object());
  if (workload.value("kind", std::string()) == "command") {
    name_programs(a, b, workload, finder);
  } else {
    const auto [of_a, of_b] = finder.find(kWorkerProgram);
    a["env"][kWorkerVariable] = of_a;
    b["env"][kWorkerVariable] = of_b;
  }
  if (duel.a.empty())
    throw Error(ExitCode::usage, "found no process whose program lies in the builds",
                json_place(origin, {"workload", "processes"}),
                "an argv that is to be taken from the builds starts with a path in them");
  document["variants"] = {a, b};
  document["baseline"] = builds.arm_a;
  document.erase("ablation");  // it speaks of all arms
  duel.document = std::move(document);
  complete_arms(duel, builds);
  return duel;
}

void start_in_worktrees(BuildDuel& duel, const BuildPair& builds, const fs::path& root,
                        const fs::path& directory) {
  json& arms = duel.document["variants"];
  const auto folder = folder_in_repository(duel.document, arms[0], root, directory);
  if (!folder) return;
  arms[0]["cwd"] = folder_of_worktree(builds.a, *folder);
  arms[1]["cwd"] = folder_of_worktree(builds.b, *folder);
}

std::vector<WorktreeArguments> arguments_in_worktrees(const json& document,
                                                      const std::optional<std::string>& arm,
                                                      const std::string& origin,
                                                      const fs::path& root,
                                                      const fs::path& directory) {
  const json& chosen = chosen_arm(document, arm, origin);
  const auto folder = folder_in_repository(document, chosen, root, directory);
  if (!folder) return {};
  std::vector<WorktreeArguments> all;
  for (const json& process : document.at("workload").at("processes")) {
    const std::string role = process.at("role");
    auto words = argv_of(process, chosen).get<std::vector<std::string>>();
    for (const json& word : chosen.value("append", json::object()).value(role, json::array()))
      words.push_back(word);
    words.erase(words.begin());
    all.push_back({std::move(words), fs::weakly_canonical(root) / *folder, *folder,
                   fmt::format("{}, role {}", origin, role)});
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
