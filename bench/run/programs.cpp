#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "allocator_arm.h"
#include "config/experiment.h"
#include "config/placeholders.h"
#include "run/plan.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// The variable as the process will have it; "random" is Python's word for an unset hash seed.
bool is_pinned(const JobProcess& process, const std::string& variable) {
  const auto own = process.env.find(variable);
  const char* inherited = std::getenv(variable.c_str());
  const std::string value = own != process.env.end() ? own->second
                            : inherited == nullptr   ? std::string()
                                                     : std::string(inherited);
  return !value.empty() && value != "random";
}

}  // namespace

bool is_python(const fs::path& program) {
  if (program.filename().string().starts_with("python")) return true;
  std::ifstream file(program, std::ios::binary);
  std::string line(128, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  line.erase(std::min(line.find('\n'), line.size()));
  return line.starts_with("#!") && line.find("python") != std::string::npos;
}

std::optional<std::string> unpinned_python(const Experiment& experiment) {
  std::set<std::string> roles;
  std::set<std::string> variables;
  for (const Variant& arm : experiment.variants) {
    for (const JobProcess& process : arm.processes) {
      const auto program = program_of(arm, process);
      if (!program || !is_python(*program)) continue;
      for (const char* variable : {"PYTHONHASHSEED", "OMP_NUM_THREADS"}) {
        if (is_pinned(process, variable)) continue;
        roles.insert(process.role);
        variables.insert(variable);
      }
    }
  }
  if (roles.empty()) return std::nullopt;
  std::vector<std::string> unset;
  if (variables.contains("PYTHONHASHSEED")) unset.emplace_back("PYTHONHASHSEED");
  if (variables.contains("OMP_NUM_THREADS")) unset.emplace_back("OMP_NUM_THREADS");
  const bool is_command = roles.size() == 1 && *roles.begin() == "command";
  return fmt::format("{} {} not set{}, so results may vary between trials",
                     fmt::join(unset, " and "), unset.size() == 1 ? "is" : "are",
                     is_command ? "" : fmt::format(" for {}", fmt::join(roles, " and ")));
}

namespace {

namespace fs = std::filesystem;

/// The word that starts a program which is no descendant; empty where there is none. Programs that
/// start another one are looked through.
std::string client_in(const Argv& argv) {
  constexpr std::array kClients = {"docker", "kubectl", "nerdctl", "ssh", "systemd-run", "tmux"};
  constexpr std::array kWrappers = {"env", "nice", "nohup", "sudo", "time", "timeout"};
  for (const std::string& word : argv) {
    const std::string name = fs::path(word).filename().string();
    if (std::ranges::find(kClients, name) != kClients.end()) return name;
    const bool is_option = word.starts_with("-") || word.find('=') != std::string::npos;
    const bool is_number =
        !word.empty() && word.find_first_not_of("0123456789.") == std::string::npos;
    if (!is_option && !is_number && std::ranges::find(kWrappers, name) == kWrappers.end()) break;
  }
  return {};
}

bool has_placeholder(const std::string& text) {
  return text.find('{') != std::string::npos;
}

std::string search_path(const Variant& arm, const JobProcess& process) {
  if (const auto own = process.env.find("PATH"); own != process.env.end()) return own->second;
  if (const auto found = arm.env.find("PATH"); found != arm.env.end()) return found->second;
  return own_path();
}

/// Whether its file is only known in a trial.
bool is_made_by_the_job(const JobProcess& process) {
  const std::string& name = process.argv.front();
  const bool beside = name.find('/') != std::string::npos && !name.starts_with("/");
  return has_placeholder(name) || (beside && has_placeholder(process.cwd));
}

std::string place_of(const Variant& arm, const JobProcess& process) {
  return fmt::format("variant {}, role {}", arm.name, process.role);
}

/// Whether a folder is the bin of a virtualenv.
bool is_virtualenv(const fs::path& folder) {
  return fs::exists(folder.parent_path() / "pyvenv.cfg");
}

/// A PATH that puts a virtualenv before the system's folders is there for Python, and one that puts
/// a folder there which does not exist is there for any program: the system's would run in its
/// place without a word. A virtualenv has no shells and compilers.
void refuse_fall_through(const Variant& arm, const JobProcess& process, const fs::path& file) {
  const std::string& name = process.argv.front();
  const std::string path = search_path(arm, process);
  if (name.find('/') != std::string::npos || path == own_path()) return;
  const auto usual = folders_of(own_path());
  std::vector<std::string> added = folders_of(path);
  std::erase_if(added, [&](const std::string& folder) {
    return std::ranges::find(usual, folder) != usual.end();
  });
  // A relative folder is one of the process's own directory.
  const auto seen = [&](const std::string& folder) {
    return (fs::path(process.cwd) / folder).lexically_normal();
  };
  const fs::path found = file.parent_path().lexically_normal();
  const bool found_there = std::ranges::find(added, found, seen) != added.end();
  if (added.empty() || found_there || has_placeholder(path) || has_placeholder(process.cwd)) return;
  const bool python = is_python(file);
  const auto folder = std::ranges::find_if(added, [&](const std::string& each) {
    return !fs::is_directory(seen(each)) || (python && is_virtualenv(seen(each)));
  });
  if (folder == added.end()) return;
  throw Error(ExitCode::usage,
              fmt::format("found no program \"{}\" in {}{}; {} would run instead", name, *folder,
                          fs::is_directory(seen(*folder)) ? "" : ", which is not a directory",
                          file.string()),
              place_of(arm, process) + ", PATH",
              "correct the directory, recreate the virtualenv, or write the path of the program");
}

/// What to do about a PATH of the arm's own without the folder of a program that memduel's has.
std::string advice_on_path(const std::string& path, const std::string& name) {
  if (path.find('$') != std::string::npos)
    return "$PATH is not expanded here: write its folders, or use a shell";
  const auto usual = resolve_program(name, "/", own_path());
  if (path == own_path() || !usual)
    return "install it, or write a path relative to the process's cwd";
  return fmt::format("it is {} here: append its folder to the variant's PATH, {}:{}",
                     usual->string(), path, usual->parent_path().string());
}

/// The keys of a config from which a variant's process has its directory and its program.
class KeysOfProcess {
 public:
  KeysOfProcess(const Experiment& experiment, const Variant& arm, const JobProcess& process)
      : experiment_(experiment), arm_(arm), process_(process) {}

  /// "job.json, line 7, $.workload.cwd"; without a file the variant and the role.
  [[nodiscard]] std::string cwd() const {
    const Job& job = experiment_.config.workload.job;
    if (arm_.cwd) return at(below(of_variant(), "cwd"), ", cwd");
    const bool is_own = index_of_process() < job.processes.size() && process_.cwd != job.cwd;
    return at(is_own ? below(of_process(), "cwd") : JsonPath{"workload", "cwd"}, ", cwd");
  }
  [[nodiscard]] std::string argv() const {
    if (index_of_process() == experiment_.config.workload.job.processes.size())
      return place_of(arm_, process_);  // a command of prepare or cleanup
    return at(arm_.argv.contains(process_.role) ? below(below(of_variant(), "argv"), process_.role)
                                                : below(of_process(), "argv"));
  }
  /// What may be missing because the example was not set up.
  [[nodiscard]] std::string advice(const std::string& otherwise) const {
    if (!experiment_.places) return otherwise;
    const fs::path folder = fs::path(experiment_.places->file()).parent_path();
    const fs::path script = (folder.empty() ? "." : folder) / "setup.sh";
    std::error_code unknown;
    return fs::exists(script, unknown) ? fmt::format("run {} first", script.string()) : otherwise;
  }

 private:
  [[nodiscard]] std::string at(const JsonPath& path, const char* key = "") const {
    return experiment_.places ? experiment_.places->at(path) : place_of(arm_, process_) + key;
  }
  [[nodiscard]] JsonPath of_variant() const {
    const auto& variants = experiment_.config.variants;
    const auto found =
        std::ranges::find(variants, arm_.twin_of.value_or(arm_.name), &Variant::name);
    return below(JsonPath{"variants"}, static_cast<std::size_t>(found - variants.begin()));
  }
  [[nodiscard]] std::size_t index_of_process() const {
    const auto& processes = experiment_.config.workload.job.processes;
    return static_cast<std::size_t>(std::ranges::find(processes, process_.role, &JobProcess::role) -
                                    processes.begin());
  }
  [[nodiscard]] JsonPath of_process() const {
    return below(JsonPath{"workload", "processes"}, index_of_process());
  }

  const Experiment& experiment_;
  const Variant& arm_;
  const JobProcess& process_;
};

/// Whether commands run before each trial, which may make its directories and programs.
bool has_preparation(const Experiment& experiment, const Variant& arm) {
  return !experiment.config.workload.job.prepare.empty() || !arm.prepare.empty();
}

/// Whether commands of `prepare` may make a process's program, which is not there: a file below its
/// directory.
bool may_be_prepared(const Experiment& experiment, const Variant& arm, const JobProcess& process) {
  const std::string name = fs::path(process.argv.front()).lexically_normal();
  const bool is_below = process.argv.front().find('/') != std::string::npos &&
                        !name.starts_with('/') && !name.starts_with("..");
  return is_below && has_preparation(experiment, arm) && !program_of(arm, process);
}

/// A directory that commands of `prepare` may make is left to the trial.
void refuse_missing_directory(const Experiment& experiment, const Variant& arm,
                              const JobProcess& process) {
  const bool is_prepared =
      process.cwd != experiment.config.workload.job.cwd && has_preparation(experiment, arm);
  if (process.cwd.empty() || has_placeholder(process.cwd) || is_prepared) return;
  const fs::path cwd = fs::path(process.cwd).lexically_normal();
  std::error_code unknown;
  if (fs::is_directory(cwd, unknown)) return;
  const KeysOfProcess keys(experiment, arm, process);
  throw Error(ExitCode::usage, fmt::format("found no directory \"{}\"", cwd.string()), keys.cwd(),
              keys.advice("a relative path starts at the directory of the config"));
}

[[noreturn]] void refuse_missing(const Experiment& experiment, const Variant& arm,
                                 const JobProcess& process) {
  const std::string& name = process.argv.front();
  if (name.find('/') != std::string::npos) {
    const KeysOfProcess keys(experiment, arm, process);
    const fs::path file = (fs::path(process.cwd) / name).lexically_normal();
    throw Error(ExitCode::usage,
                name == file ? fmt::format("found no program \"{}\"", name)
                             : fmt::format("found no program \"{}\": {} is no executable file",
                                           name, file.string()),
                keys.argv(),
                keys.advice("a path in argv is relative to the process's cwd, " + process.cwd));
  }
  const std::string path = search_path(arm, process);
  throw Error(ExitCode::usage, fmt::format("found no program \"{}\" in its PATH, {}", name, path),
              place_of(arm, process), advice_on_path(path, name));
}

/// The commands of prepare and cleanup as processes of an arm, and those that compare artifacts.
std::vector<JobProcess> steps_of(const Experiment& experiment, const Variant& arm) {
  std::vector<JobProcess> steps;
  const Job& job = experiment.config.workload.job;
  const auto add = [&](const std::string& role, const Argv& argv,
                       const std::map<std::string, std::string>& env) {
    JobProcess step;
    step.role = role;
    step.argv = argv;
    step.cwd = job.cwd;
    step.env = env;
    steps.push_back(std::move(step));
  };
  for (const auto* prepare : {&job.prepare, &arm.prepare})
    for (const Argv& argv : *prepare) add("prepare", argv, arm.env);
  for (const auto* cleanup : {&arm.cleanup, &job.cleanup})
    for (const Argv& argv : *cleanup) add("cleanup", argv, arm.env);
  for (const Artifact& artifact : job.artifacts())
    if (!artifact.compare.empty()) add("compare of " + artifact.name, artifact.compare, {});
  return steps;
}

/// SHA-256 by file, each read once.
class Hashes {
 public:
  explicit Hashes(const Experiment& experiment) : experiment_(experiment) {}
  void add(const fs::path& file) {
    if (!hashes_.contains(file.string())) hashes_[file.string()] = sha256_hex_of_file(file);
  }
  /// With its script. Nothing of a program that only a trial has.
  void add_program(const Variant& arm, const JobProcess& process) {
    refuse_missing_directory(experiment_, arm, process);
    if (is_made_by_the_job(process)) return;
    const auto file = program_of(arm, process);
    if (!file) {
      if (has_placeholder(search_path(arm, process))) return;
      refuse_missing(experiment_, arm, process);
    }
    refuse_fall_through(arm, process, *file);
    add(*file);
    if (const auto script = script_of(arm, process)) add(*script);
  }
  [[nodiscard]] std::map<std::string, std::string> all() && { return std::move(hashes_); }

 private:
  const Experiment& experiment_;
  std::map<std::string, std::string> hashes_;
};

std::vector<JobTemplate> templates_of(const Job& job, std::span<const Variant> variants) {
  std::vector<JobTemplate> templates = job.templates;
  for (const Variant& arm : variants)
    templates.insert(templates.end(), arm.templates.begin(), arm.templates.end());
  return templates;
}

/// What an arm runs, `name_of` saying what stands for a program or script.
struct Contents {
  std::optional<Allocator> allocator;
  std::vector<JobProcess> processes;
  std::vector<JobTemplate> templates;
  std::vector<Argv> prepare;
  std::vector<Argv> cleanup;
  bool operator==(const Contents&) const = default;
};

Contents contents_of(const Variant& arm,
                     const std::function<std::string(const fs::path&)>& name_of) {
  Contents contents{arm.allocator, arm.processes, arm.templates, arm.prepare, arm.cleanup};
  for (JobProcess& process : contents.processes) {
    const auto program = program_of(arm, process);
    const auto script = script_of(arm, process);
    if (program) process.argv.front() = name_of(*program);
    for (std::string& argument : process.argv)
      if (script && fs::path(process.cwd) / argument == *script) argument = name_of(*script);
  }
  return contents;
}

/// The first two arms whose contents are the same; twins aside, which are so on purpose.
std::optional<std::pair<std::string, std::string>> equal_arms(
    const Experiment& experiment, const std::function<std::string(const fs::path&)>& name_of) {
  std::vector<std::pair<std::string, Contents>> seen;
  for (const Variant& arm : experiment.variants) {
    if (arm.twin_of) continue;
    Contents contents = contents_of(arm, name_of);
    for (const auto& [name, others] : seen)
      if (others == contents) return std::pair(name, arm.name);
    seen.emplace_back(arm.name, std::move(contents));
  }
  return std::nullopt;
}

void refuse_arms_that_run_the_same(const Experiment& experiment) {
  const auto equal = equal_arms(experiment, [](const fs::path& file) { return file.string(); });
  if (!equal) return;
  throw Error(ExitCode::usage,
              fmt::format("the variants \"{}\" and \"{}\" run the same program with the same "
                          "arguments, environment and directory",
                          equal->first, equal->second),
              "", kMeasureTheNoise);
}

}  // namespace

std::optional<fs::path> program_of(const Variant& arm, const JobProcess& process) {
  if (is_made_by_the_job(process)) return std::nullopt;
  return resolve_program(own_program(process.argv.front()), process.cwd, search_path(arm, process));
}

std::optional<fs::path> script_of(const Variant& arm, const JobProcess& process) {
  const auto program = program_of(arm, process);
  if (!program) return std::nullopt;
  const std::string name = program->filename();
  const bool interpreter = name.starts_with("python") || name == "sh" || name == "bash";
  if (!interpreter) return std::nullopt;
  for (std::size_t i = 1; i < process.argv.size(); ++i) {
    const std::string& argument = process.argv[i];
    if (argument == "-c" || argument == "-m") return std::nullopt;
    std::error_code error;
    fs::path file = fs::path(process.cwd) / argument;
    if (!has_placeholder(file.string()) && fs::is_regular_file(file, error)) return file;
  }
  return std::nullopt;
}

std::map<std::string, std::string> step_hashes(const Experiment& experiment,
                                               std::span<const Variant> variants) {
  Hashes hashes(experiment);
  for (const Variant& arm : variants)
    for (const JobProcess& step : steps_of(experiment, arm)) hashes.add_program(arm, step);
  for (const JobTemplate& each : templates_of(experiment.config.workload.job, variants)) {
    if (!each.from || has_placeholder(*each.from)) continue;
    check_template_text(read_file_of_at_most(*each.from, kMostTemplateBytes), *each.from);
    hashes.add(*each.from);
  }
  return std::move(hashes).all();
}

std::map<std::string, std::string> program_hashes(const Experiment& experiment) {
  Hashes hashes(experiment);
  for (const Variant& arm : experiment.variants) {
    const fs::path allocator = arm.allocator ? allocator_library(*arm.allocator) : fs::path();
    if (!allocator.empty()) hashes.add(allocator);
    for (const JobProcess& process : arm.processes)
      if (!may_be_prepared(experiment, arm, process)) hashes.add_program(arm, process);
  }
  std::map<std::string, std::string> all = std::move(hashes).all();
  all.merge(step_hashes(experiment, experiment.variants));
  refuse_arms_that_run_the_same(experiment);
  return all;
}

std::optional<Note> warning_of_equal_contents(const Experiment& experiment) {
  // Virtualenvs share the interpreter and differ in their packages.
  const auto equal = equal_arms(experiment, [](const fs::path& file) {
    return is_virtualenv(file.parent_path()) ? file.string() : sha256_hex_of_file(file);
  });
  if (!equal) return std::nullopt;
  return Note{
      "variants_have_equal_contents",
      fmt::format("the programs of the variants {} and {} are different files with the same "
                  "contents, and everything else is the same",
                  equal->first, equal->second),
      "differences between them can only come from noise or from files next to the programs"};
}

std::optional<Note> warning_of_programs_elsewhere(const Experiment& experiment) {
  std::set<std::string> found;
  for (const Variant& arm : experiment.variants)
    for (const JobProcess& process : arm.processes)
      if (const std::string client = client_in(process.argv); !client.empty()) found.insert(client);
  if (found.empty()) return std::nullopt;
  return Note{
      "programs_elsewhere",
      fmt::format("{} runs a program in a daemon or on another machine, so the memory of that "
                  "program is not measured",
                  fmt::join(found, ", ")),
      "run the program itself, or run memduel on that machine"};
}

}  // namespace memduel
