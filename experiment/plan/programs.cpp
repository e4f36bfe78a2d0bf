#include "experiment/plan/programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "experiment/config/command_placeholders.h"
#include "experiment/plan/allocator_arm.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

bool has_placeholder(const std::string& text) {
  return text.find('{') != std::string::npos;
}

std::string inherited_path() {
  const char* inherited = std::getenv("PATH");
  return inherited == nullptr ? "" : inherited;
}

std::string search_path(const Arm& arm, const json& process) {
  if (process.contains("env") && process["env"].contains("PATH"))
    return process["env"]["PATH"].get<std::string>();
  if (const auto found = arm.env.find("PATH"); found != arm.env.end()) return found->second;
  return inherited_path();
}

fs::path directory_of(const json& process) {
  return process.value("cwd", std::string("."));
}

std::vector<std::string> folders_of(const std::string& path) {
  std::vector<std::string> folders;
  std::istringstream stream(path);
  for (std::string folder; std::getline(stream, folder, ':');) folders.push_back(folder);
  return folders;
}

/// Whether its file is only known in a trial.
bool is_made_by_the_job(const json& process) {
  const std::string name = process.at("argv").at(0);
  const bool beside = name.find('/') != std::string::npos && !name.starts_with("/");
  return has_placeholder(name) || (beside && has_placeholder(directory_of(process).string()));
}

std::string place_of(const Arm& arm, const json& process) {
  return fmt::format("arm {}, role {}", arm.name, process.value("role", std::string()));
}

/// Whether a folder is the bin of a virtualenv.
bool is_virtualenv(const std::string& folder) {
  return fs::exists(fs::path(folder).parent_path() / "pyvenv.cfg");
}

/// A PATH that puts folders before the system's is there for its program: the system's would run
/// something else without a word.
void refuse_fall_through(const Arm& arm, const json& process, const fs::path& file) {
  const std::string name = process.at("argv").at(0);
  const std::string path = search_path(arm, process);
  if (name.find('/') != std::string::npos || path == inherited_path()) return;
  const auto usual = folders_of(inherited_path());
  std::vector<std::string> added = folders_of(path);
  std::erase_if(added, [&](const std::string& folder) {
    return std::find(usual.begin(), usual.end(), folder) != usual.end();
  });
  const bool found_there =
      std::find(added.begin(), added.end(), file.parent_path().string()) != added.end();
  if (added.empty() || found_there || has_placeholder(path)) return;
  const auto folder = std::find_if(added.begin(), added.end(), [](const std::string& each) {
    return !fs::is_directory(each) || is_virtualenv(each);
  });
  if (folder == added.end()) return;
  throw Error(
      ExitCode::usage,
      fmt::format("no program \"{}\" in {}{}; {} would run in its place", name, *folder,
                  fs::is_directory(*folder) ? "" : ", which is no directory", file.string()),
      place_of(arm, process) + ", PATH",
      "correct the directory, make the virtualenv again, or give the program with its path");
}

[[noreturn]] void refuse_missing(const Arm& arm, const json& process) {
  const std::string name = process.at("argv").at(0);
  const std::string looked = name.find('/') == std::string::npos
                                 ? "PATH is " + search_path(arm, process)
                                 : "the directory is " + directory_of(process).string();
  throw Error(
      ExitCode::usage, fmt::format("no program \"{}\"", name), place_of(arm, process),
      "an argv starts with a program in PATH or with a path from the process's cwd; " + looked);
}

/// The commands of prepare and cleanup as processes of an arm, and those that compare files.
std::vector<json> steps_of(const Experiment& experiment, const Arm& arm) {
  std::vector<json> steps;
  if (!experiment.workload.is_object()) return steps;
  for (const char* name : {"prepare", "cleanup"}) {
    for (const json& argv : experiment.workload.value(name, json::array())) {
      steps.push_back({{"role", name},
                       {"argv", argv},
                       {"env", arm.env},
                       {"cwd", experiment.workload.value("cwd", std::string("."))}});
    }
  }
  for (const json& file : experiment.workload.value("files", json::array())) {
    if (!file.contains("compare")) continue;
    steps.push_back({{"role", "compare of " + file.at("name").get<std::string>()},
                     {"argv", file.at("compare")},
                     {"env", json::object()},
                     {"cwd", experiment.workload.value("cwd", std::string("."))}});
  }
  return steps;
}

/// What an arm runs, as text; `name_of` says what stands for a program or script.
std::string description(const Arm& arm,
                        const std::function<std::string(const fs::path&)>& name_of) {
  json all = json::array();
  if (arm.allocator) all.push_back(memduel::name_of(*arm.allocator));
  for (const json& process : arm.processes) {
    json one = process;
    const auto program = program_of(arm, process);
    const auto script = script_of(arm, process);
    if (program) one["argv"][0] = name_of(*program);
    for (json& argument : one["argv"]) {
      if (script && directory_of(process) / argument.get<std::string>() == *script)
        argument = name_of(*script);
    }
    all.push_back(std::move(one));
  }
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

void refuse_arms_that_run_the_same(const Experiment& experiment) {
  std::map<std::string, std::string> seen;
  for (const Arm& arm : experiment.arms) {
    if (arm.twin_of || arm.processes.empty()) continue;
    const auto [other, is_new] = seen.emplace(
        description(arm, [](const fs::path& file) { return file.string(); }), arm.name);
    if (is_new) continue;
    throw Error(ExitCode::usage,
                fmt::format("the arms \"{}\" and \"{}\" run the same program, with the same "
                            "arguments, environment and directory",
                            other->second, arm.name),
                "", "nothing can differ between them; to measure the noise give --calibrate");
  }
}

}  // namespace

std::optional<fs::path> resolve_program(const std::string& name, const fs::path& cwd,
                                        const std::string& path) {
  if (name.find('/') != std::string::npos) {
    const fs::path file = cwd / name;
    return is_program(file) ? std::optional(file.lexically_normal()) : std::nullopt;
  }
  for (const std::string& folder : folders_of(path)) {
    if (fs::path file = fs::path(folder) / name; is_program(file)) return file;
  }
  return std::nullopt;
}

std::optional<fs::path> program_of(const Arm& arm, const json& process) {
  if (is_made_by_the_job(process)) return std::nullopt;
  return resolve_program(process.at("argv").at(0), directory_of(process),
                         search_path(arm, process));
}

std::optional<fs::path> script_of(const Arm& arm, const json& process) {
  const auto program = program_of(arm, process);
  if (!program) return std::nullopt;
  const std::string name = program->filename();
  const bool interpreter = name.starts_with("python") || name == "sh" || name == "bash";
  if (!interpreter) return std::nullopt;
  const json& argv = process.at("argv");
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string argument = argv[i];
    if (argument == "-c" || argument == "-m") return std::nullopt;
    std::error_code error;
    fs::path file = directory_of(process) / argument;
    if (!has_placeholder(file.string()) && fs::is_regular_file(file, error)) return file;
  }
  return std::nullopt;
}

std::map<std::string, std::string> program_hashes(const Experiment& experiment,
                                                  const std::optional<fs::path>& worker) {
  std::map<std::string, std::string> hashes;
  const auto add = [&hashes](const fs::path& file) {
    if (!hashes.contains(file.string())) hashes[file.string()] = sha256_hex_of_file(file);
  };
  if (worker) add(*worker);
  for (const Arm& arm : experiment.arms) {
    const fs::path allocator = arm.allocator ? allocator_library(*arm.allocator) : fs::path();
    if (!allocator.empty()) add(allocator);
    std::vector<json> processes = arm.processes;
    for (json& step : steps_of(experiment, arm)) processes.push_back(std::move(step));
    for (const json& process : processes) {
      if (is_made_by_the_job(process)) continue;
      const auto file = program_of(arm, process);
      if (!file) {
        if (has_placeholder(search_path(arm, process))) continue;
        refuse_missing(arm, process);
      }
      refuse_fall_through(arm, process, *file);
      add(*file);
      if (const auto script = script_of(arm, process)) add(*script);
    }
  }
  if (experiment.workload.is_object()) {
    for (const json& each : experiment.workload.value("templates", json::array())) {
      const std::string from = each.at("from");
      if (has_placeholder(from)) continue;
      check_template_text(read_file_of_at_most(from, kMostTemplateBytes), from);
      add(from);
    }
  }
  refuse_arms_that_run_the_same(experiment);
  return hashes;
}

std::optional<Note> warning_of_equal_contents(const Experiment& experiment) {
  std::map<std::string, std::string> seen;
  for (const Arm& arm : experiment.arms) {
    if (arm.twin_of || arm.processes.empty()) continue;
    const auto [other, is_new] = seen.emplace(
        description(arm, [](const fs::path& file) { return sha256_hex_of_file(file); }), arm.name);
    if (is_new) continue;
    return Note{"arms_have_equal_contents",
                fmt::format("the programs of the arms {} and {} are different files with the same "
                            "contents, and all else is the same",
                            other->second, arm.name),
                "what differs between them can only be noise, or files that they find beside "
                "themselves"};
  }
  return std::nullopt;
}

}  // namespace memduel
