#include "experiment/builds/builds_make.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/why_not_run.h"
#include "experiment/builds/worktrees.h"
#include "experiment/plan/plan.h"
#include "experiment/trial/launcher/protocol.h"
#include "experiment/trial/trial_name.h"

namespace memduel {
namespace {

constexpr std::chrono::milliseconds kMakeLookInterval{20};
constexpr std::chrono::seconds kGrace{5};

/// NAME=VALUE strings as execve takes them.
class EnvironmentBlock {
 public:
  explicit EnvironmentBlock(const std::map<std::string, std::string>& more) {
    auto variables = current_environment();
    for (const char* name : kGitVariables) variables.erase(name);
    // Should this memduel be killed, the next one finds what it was building.
    variables[kTrialVariable] = unique_trial_name(0);
    variables[kBuildSessionVariable] = std::to_string(::getsid(0));
    for (const auto& [name, value] : more) variables[name] = value;
    for (const auto& [name, value] : variables) strings_.push_back(name + "=" + value);
    for (std::string& text : strings_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  [[nodiscard]] char* const* data() { return pointers_.data(); }

 private:
  std::vector<std::string> strings_;
  std::vector<char*> pointers_;
};

pid_t spawn_group(const MakeOptions& options) {
  std::vector<char*> arguments;
  for (const std::string& word : options.command.argv)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  EnvironmentBlock environment(options.command.env);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND;
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, options.log.c_str(), kAppend, 0644);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&files, options.directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = -1;
  const int failed =
      posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0)
    throw Error(ExitCode::usage, "cannot start: " + why_not_run(options.command.argv[0], failed),
                options.command.argv[0],
                "--build is split into words as a shell does it; give --shell for && and the like");
  return pid;
}

/// Whether it has ended, and how.
std::optional<int> ended(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, WNOHANG) != pid) return std::nullopt;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void end_group(pid_t pid, const StopRequest& stop) {
  ::kill(-pid, SIGTERM);
  const auto last = std::chrono::steady_clock::now() + kGrace;
  while (!ended(pid) && !stop.asked_for_haste() && std::chrono::steady_clock::now() < last)
    std::this_thread::sleep_for(kMakeLookInterval);
  ::kill(-pid, SIGKILL);
  ended(pid);
}

}  // namespace

int run_make(const MakeOptions& options) {
  const pid_t pid = spawn_group(options);
  for (;;) {
    if (const auto status = ended(pid)) {
      ::kill(-pid, SIGKILL);  // what it left in the background
      return *status;
    }
    if (options.stop != nullptr && options.stop->asked()) {
      end_group(pid, *options.stop);
      throw options.stop->error("stopped by a signal while building", options.directory.string());
    }
    std::this_thread::sleep_for(kMakeLookInterval);
  }
}

std::string last_lines(const std::filesystem::path& log) {
  constexpr std::size_t kMostLines = 20;
  constexpr std::size_t kMostCharacters = 300;
  std::deque<std::string> lines;
  std::istringstream text(read_file(log));
  for (std::string line; std::getline(text, line);) {
    if (line.size() > kMostCharacters) line.resize(kMostCharacters);
    lines.push_back(std::move(line));
    if (lines.size() > kMostLines) lines.pop_front();
  }
  std::string excerpt;
  for (const std::string& line : lines) excerpt += "\n    " + line;
  return excerpt;
}

}  // namespace memduel
