#include "spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "protocol.h"
#include "trial/processes.h"

namespace memduel {
namespace {

enum Step : int {
  join_group,
  enter_directory,
  open_null,
  connect_streams,
  set_environment,
  limit_data,
  execute
};

constexpr std::array<const char*, 7> kStepNames = {
    "joining the control group", kEnteringDirectory,    "opening /dev/null",    "connecting output",
    "setting the environment",   "limiting its memory", "executing the program"};

/// What the child tells: that it executes the program now, or what failed.
struct Told {
  std::int64_t begin_ns = 0;
  int step = 0;
  int error_number = 0;
};

void tell(int report, const Told& told) {
  if (write(report, &told, sizeof told) < 0) _exit(126);
}

[[noreturn]] void fail(int report, Step step, int error_number) {
  tell(report, {0, step, error_number});
  _exit(127);
}

/// The last word of the child; nothing where it was killed before it said any.
Told last_told(int from) {
  Told told;
  Told next;
  ssize_t got = 0;
  do {
    got = read(from, &next, sizeof next);
    if (got == sizeof next) told = next;
  } while (got > 0 || (got < 0 && errno == EINTR));
  return told;
}

/// dup2 leaves close-on-exec set when both numbers are equal. -1: the number stays what it is.
bool place(int descriptor, int number) {
  if (descriptor < 0) return true;
  return descriptor == number ? fcntl(descriptor, F_SETFD, 0) == 0 : dup2(descriptor, number) >= 0;
}

/// Its own process group, so that a program that signals its group reaches neither us nor others.
void contain(const TrialCgroup& group, int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (const int error = join_cgroup(group)) fail(report, join_group, error);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) fail(report, open_null, errno);
  if (!place(nothing, STDIN_FILENO)) fail(report, connect_streams, errno);
}

[[noreturn]] void become(const SpawnOptions& request, const TrialCgroup* container, int report) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  if (container != nullptr) contain(*container, report);
  if (!place(request.output, STDOUT_FILENO) || !place(request.errors, STDERR_FILENO) ||
      !place(request.marks, kMarksDescriptor))
    fail(report, connect_streams, errno);
  for (const std::string& variable : request.environment) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos ||
        setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1) != 0)
      fail(report, set_environment, errno);
  }
  if (!request.cwd.empty() && chdir(request.cwd.c_str()) != 0) fail(report, enter_directory, errno);
  std::vector<char*> arguments;
  for (const std::string& argument : request.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const rlimit limit{request.data_limit, request.data_limit};
  if (request.data_limit != 0 && setrlimit(RLIMIT_DATA, &limit) != 0)
    fail(report, limit_data, errno);
  tell(report, {monotonic_ns(), execute, 0});
  execvp(arguments[0], arguments.data());
  fail(report, execute, errno);
}

}  // namespace

SpawnResult spawn(const SpawnOptions& request, const TrialCgroup* container) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return {0, 0, kStartingAProcess, errno};
  // The child's copy must survive dup2 onto the small numbers and the marks' number.
  const int report = fcntl(pipe_ends[1], F_DUPFD_CLOEXEC, kMarksDescriptor + 1);
  const int pipe_error = errno;
  close(pipe_ends[1]);
  if (report < 0) {
    close(pipe_ends[0]);
    return {0, 0, kStartingAProcess, pipe_error};
  }
  const pid_t pid = fork();
  if (pid == 0) become(request, container, report);
  const int fork_error = errno;
  close(report);
  const Told told = pid > 0 ? last_told(pipe_ends[0]) : Told{};
  close(pipe_ends[0]);
  if (pid < 0) return {0, 0, kStartingAProcess, fork_error};
  if (told.error_number == 0)
    return {pid, told.begin_ns == 0 ? monotonic_ns() : told.begin_ns, {}, 0};
  waitpid(pid, nullptr, 0);
  return {0, 0, kStepNames[static_cast<std::size_t>(told.step)], told.error_number};
}

}  // namespace memduel
