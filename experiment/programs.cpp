#include "experiment/programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "base/error.h"
#include "base/sha256.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

std::string search_path(const Arm& arm, const nlohmann::json& process) {
  if (process.contains("env") && process["env"].contains("PATH"))
    return process["env"]["PATH"].get<std::string>();
  if (const auto found = arm.env.find("PATH"); found != arm.env.end()) return found->second;
  const char* inherited = std::getenv("PATH");
  return inherited == nullptr ? "" : inherited;
}

}  // namespace

std::optional<fs::path> resolve_program(const std::string& name, const fs::path& cwd,
                                        const std::string& path) {
  if (name.find('/') != std::string::npos) {
    const fs::path file = cwd / name;
    return is_program(file) ? std::optional(file.lexically_normal()) : std::nullopt;
  }
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (fs::path file = fs::path(folder) / name; is_program(file)) return file;
  }
  return std::nullopt;
}

std::map<std::string, std::string> program_hashes(const Experiment& experiment,
                                                  const std::optional<fs::path>& worker) {
  std::map<std::string, std::string> hashes;
  if (worker) hashes[worker->string()] = sha256_hex_of_file(*worker);
  for (const Arm& arm : experiment.arms) {
    for (const nlohmann::json& process : arm.processes) {
      const std::string name = process.at("argv").at(0);
      // A program in the trial's own directory is made by the job itself.
      if (name.find('{') != std::string::npos) continue;
      const std::optional<fs::path> file =
          resolve_program(name, process.value("cwd", std::string(".")), search_path(arm, process));
      if (!file)
        throw Error(ExitCode::usage, fmt::format("no program \"{}\"", name),
                    fmt::format("arm {}, role {}", arm.name, process.value("role", std::string())),
                    "an argv starts with a program in PATH or with a path; the directory is the "
                    "process's cwd");
      if (!hashes.contains(file->string())) hashes[file->string()] = sha256_hex_of_file(*file);
    }
  }
  return hashes;
}

}  // namespace memduel
