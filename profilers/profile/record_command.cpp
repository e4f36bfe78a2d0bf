#include "profilers/profile/capture/run_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/why_not_run.h"

namespace memduel {

namespace {

volatile sig_atomic_t signalled_child = 0;

/// To the command, from a handler.
void pass_on(int number) {
  kill(signalled_child, number);
}

/// A terminal sends these to the command as well.
constexpr std::array kOfTerminals = {SIGINT, SIGQUIT};
/// These come to us alone.
constexpr std::array kPassedOn = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

// The command decides what a signal means, and its profile is finished after it.
class SignalsForTheCommand {
 public:
  explicit SignalsForTheCommand(pid_t child) {
    signalled_child = child;
    for (const int number : kOfTerminals) before_[number] = std::signal(number, SIG_IGN);
    for (const int number : kPassedOn) before_[number] = std::signal(number, pass_on);
    if (before_[SIGHUP] == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // under nohup
  }
  ~SignalsForTheCommand() {
    for (const auto& [number, handler] : before_) std::signal(number, handler);
  }
  SignalsForTheCommand(const SignalsForTheCommand&) = delete;
  SignalsForTheCommand& operator=(const SignalsForTheCommand&) = delete;
  SignalsForTheCommand(SignalsForTheCommand&&) = delete;
  SignalsForTheCommand& operator=(SignalsForTheCommand&&) = delete;

 private:
  std::map<int, void (*)(int)> before_;
};

}  // namespace

std::filesystem::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* list = std::getenv("PATH");
  std::string rest = list == nullptr ? "/bin:/usr/bin" : list;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string directory = rest.substr(0, colon);
    const auto candidate = std::filesystem::path(directory.empty() ? "." : directory) / name;
    const bool executable = access(candidate.c_str(), X_OK) == 0;
    if (executable && std::filesystem::is_regular_file(candidate)) return candidate;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return {};
}

// The child tells through a pipe why it cannot execute the command.
int run_command(const std::vector<std::string>& argv,
                const std::map<std::string, std::string>& environment) {
  std::vector<char*> arguments;
  for (const std::string& word : argv) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int failure_pipe[2];
  if (pipe2(failure_pipe, O_CLOEXEC) != 0) {
    throw Error(ExitCode::io, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  // None may end us between the command's start and the handlers that pass them on.
  sigset_t passed_on;
  sigset_t before;
  sigemptyset(&passed_on);
  for (const int number : kOfTerminals) sigaddset(&passed_on, number);
  for (const int number : kPassedOn) sigaddset(&passed_on, number);
  sigprocmask(SIG_BLOCK, &passed_on, &before);
  const pid_t child = fork();
  if (child < 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    throw Error(ExitCode::io, fmt::format("cannot fork: {}", std::strerror(errno)));
  }
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    execvp(arguments[0], arguments.data());
    const int reason = errno;
    const ssize_t wrote = write(failure_pipe[1], &reason, sizeof reason);
    _exit(wrote == sizeof reason ? 127 : 126);
  }
  const SignalsForTheCommand signals(child);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(failure_pipe[1]);
  int reason = 0;
  ssize_t got = 0;
  do {
    got = read(failure_pipe[0], &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  close(failure_pipe[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (got == sizeof reason) {
    throw Error(ExitCode::usage, "cannot run it: " + why_not_run(argv[0], reason), argv[0]);
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace memduel
