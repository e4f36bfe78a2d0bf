#include "watched_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "memduel/annotate.h"
#include "trial/processes.h"
#include "util/error.h"
#include "util/process.h"

namespace memduel {
namespace {

constexpr std::int64_t kKib = 1024;

Descriptor output_file(const std::filesystem::path& path) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (!file) throw Error(ExitCode::io, std::strerror(errno), path.string());
  return file;
}

std::int64_t own_largest_bytes() {
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  return own.ru_maxrss * kKib;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// dup2 leaves close-on-exec set when both numbers are equal.
bool attach(int descriptor, int number) {
  return descriptor == number ? fcntl(descriptor, F_SETFD, 0) == 0 : dup2(descriptor, number) >= 0;
}

struct Connections {
  int marks = -1;
  int output = -1;  ///< -1: our own
  int errors = -1;
  int report = -1;  ///< takes the errno of what failed
};

[[noreturn]] void become(const std::vector<std::string>& argv, const Connections& to,
                         std::uint64_t marks_inode) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  bool done = attach(to.marks, kMarksDescriptor);
  if (to.output >= 0) {
    done = done && attach(to.output, STDOUT_FILENO) && attach(to.errors, STDERR_FILENO);
    // Python holds back what it prints to a file, and with it the rounds in it.
    done = done && setenv("PYTHONUNBUFFERED", "1", 0) == 0;
  }
  done = done && setenv(MEMDUEL_WIRE_FD, std::to_string(kMarksDescriptor).c_str(), 1) == 0 &&
         setenv(MEMDUEL_WIRE_INODE, std::to_string(marks_inode).c_str(), 1) == 0;
  if (done) {
    std::vector<char*> arguments;
    for (const std::string& word : argv) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
  }
  const int reason = errno;
  const ssize_t wrote = write(to.report, &reason, sizeof reason);
  _exit(wrote == sizeof reason ? 127 : 126);
}

}  // namespace

WatchedCommand::WatchedCommand(const std::vector<std::string>& argv,
                               const std::optional<OutputFiles>& output)
    : largest_before_bytes_(own_largest_bytes()) {
  Descriptor out;
  Descriptor err;
  if (output) {
    out = output_file(output->standard_output);
    err = output_file(output->standard_error);
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(ExitCode::io, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const Descriptor reading(ends[0]);
  // The child's copy must survive dup2 onto the small numbers and the marks' number.
  Descriptor report(fcntl(ends[1], F_DUPFD_CLOEXEC, kMarksDescriptor + 1));
  close(ends[1]);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  pid_ = fork();
  if (pid_ < 0) throw Error(ExitCode::io, fmt::format("cannot fork: {}", std::strerror(errno)));
  if (pid_ == 0)
    become(argv, {marks.remote().get(), out.get(), err.get(), report.get()}, marks.inode());
  report.reset();
  marks.remote().reset();
  int reason = 0;
  ssize_t got = 0;
  do {
    got = read(reading.get(), &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof reason) return;
  waitpid(pid_, nullptr, 0);
  throw Error(ExitCode::usage, "cannot run it: " + why_not_run(argv[0], reason), argv[0]);
}

void WatchedCommand::signal(int number) const {
  if (!exit_) kill(pid_, number);
}

std::optional<ExitRecord> WatchedCommand::reap() {
  int status = 0;
  rusage usage{};
  for (pid_t pid = 0; (pid = wait4(-1, &status, WNOHANG, &usage)) > 0;) {
    if (pid != pid_) continue;  // one that lost its parent
    ExitRecord record;
    record.t_ns = monotonic_ns();
    if (WIFSIGNALED(status)) {
      record.signal = WTERMSIG(status);
    } else {
      record.status = WEXITSTATUS(status);
    }
    record.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    // A fork's account begins with what its parent held: a smaller peak of its own is not known.
    const std::int64_t largest = usage.ru_maxrss * kKib;
    record.max_rss_bytes = largest > largest_before_bytes_ ? largest : 0;
    record.minor_faults = usage.ru_minflt;
    record.major_faults = usage.ru_majflt;
    exit_ = record;
  }
  return exit_;
}

namespace {

bool is_ignored(int number) {
  struct sigaction action{};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

WatchSignals::WatchSignals() {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGTERM);
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2}) {
    if (!is_ignored(number)) sigaddset(&watched, number);
  }
  sigprocmask(SIG_BLOCK, &watched, &before_);
  pipe_before_ = signal(SIGPIPE, SIG_IGN);
  descriptor_ = Descriptor(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
}

WatchSignals::~WatchSignals() {
  signal(SIGPIPE, pipe_before_);
  while (next()) {  // those that came too late to matter
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> WatchSignals::next() {
  signalfd_siginfo info{};
  if (read(descriptor_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace memduel
