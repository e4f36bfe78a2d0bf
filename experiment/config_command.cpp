#include "experiment/config_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "experiment/config_text_marks.h"
#include "experiment/json_text.h"

namespace memduel {
namespace {

using nlohmann::json;

JsonPath process_path(std::size_t index) {
  return {"workload", "processes", std::to_string(index)};
}

[[noreturn]] void refuse(const std::string& origin, JsonPath path, const std::string& key,
                         const std::string& what, const std::string& advice = "") {
  path.push_back(key);
  throw Error(ExitCode::usage, what, json_place(origin, path), advice);
}

void check_role(const std::string& role, const std::vector<std::string>& taken,
                const std::string& origin, const JsonPath& path) {
  for (const char* reserved : {"tree", "client_max", "client_median"}) {
    if (role == reserved) {
      refuse(origin, path, "role",
             fmt::format("found \"{}\", which memduel uses for groups of processes", role));
    }
  }
  if (std::find(taken.begin(), taken.end(), role) != taken.end()) {
    refuse(origin, path, "role", fmt::format("found \"{}\" twice", role),
           "give each process its own role, or one process a count");
  }
}

void check_after(const json& process, const std::vector<std::string>& earlier,
                 const std::string& origin, const JsonPath& path) {
  for (const std::string role : process.at("after")) {
    if (std::find(earlier.begin(), earlier.end(), role) != earlier.end()) continue;
    const auto nearest = nearest_name(role, earlier);
    refuse(origin, path, "after", fmt::format("found \"{}\", expected an earlier role", role),
           nearest ? fmt::format("did you mean \"{}\"?", *nearest) : "");
  }
}

void check_ready(const json& process, const std::string& origin, const JsonPath& path) {
  const auto ready = process.find("ready");
  if (ready == process.end()) return;
  const auto conditions = ready->count("port") + ready->count("log") + ready->count("file");
  if (conditions > 1) {
    refuse(origin, path, "ready", "found several conditions, expected one of port, log, file");
  }
}

void apply_arguments(json& processes, const json& arm, const std::string& key,
                     const std::string& place) {
  for (const auto& change : arm.at(key).items()) {
    std::vector<std::string> roles;
    json* target = nullptr;
    for (json& process : processes) {
      roles.push_back(process.at("role"));
      if (roles.back() == change.key()) target = &process;
    }
    if (target == nullptr) {
      const auto nearest = nearest_name(change.key(), roles);
      throw Error(ExitCode::usage, fmt::format("found unknown role \"{}\"", change.key()),
                  place + "." + key, nearest ? fmt::format("did you mean \"{}\"?", *nearest) : "");
    }
    json& argv = (*target)["argv"];
    if (key == "argv") argv = json::array();
    for (const json& argument : change.value()) argv.push_back(argument);
  }
}

}  // namespace

std::string resolve_directory(const std::string& cwd, const std::filesystem::path& directory) {
  if (cwd.starts_with("{trial_dir}")) return cwd;
  return (directory / cwd).lexically_normal().string();
}

void resolve_command_workload(json& workload, const std::filesystem::path& directory,
                              const std::string& origin) {
  std::vector<std::string> earlier;
  std::vector<std::string> taken;
  std::size_t index = 0;
  for (json& process : workload.at("processes")) {
    const JsonPath path = process_path(index++);
    auto roles = roles_of_process(process);
    if (process.contains("count")) roles.push_back(process.at("role"));
    for (const std::string& role : roles) {
      check_role(role, taken, origin, path);
      taken.push_back(role);
    }
    check_after(process, earlier, origin, path);
    check_ready(process, origin, path);
    earlier.push_back(process.at("role"));
    process["cwd"] = resolve_directory(process.value("cwd", std::string(".")), directory);
  }
  resolve_text_marks(workload, origin);
}

std::vector<std::string> roles_of_process(const json& process) {
  const std::string role = process.at("role");
  if (!process.contains("count")) return {role};
  std::vector<std::string> roles;
  for (int index = 1; index <= process.at("count").get<int>(); ++index) {
    roles.push_back(fmt::format("{}-{}", role, index));
  }
  return roles;
}

json processes_of_arm(const json& workload, const json& arm, const std::string& place) {
  json processes = workload.at("processes");
  apply_arguments(processes, arm, "argv", place);
  apply_arguments(processes, arm, "append", place);
  for (json& process : processes) {
    process["env"].update(arm.at("env"));
    if (arm.contains("cwd")) process["cwd"] = arm.at("cwd");
  }
  return processes;
}

}  // namespace memduel
