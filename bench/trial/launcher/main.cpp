// memduel-launcher: the parent of every process of one trial. It starts them, reports how they end,
// and when the trial ends or memduel is gone in whatever way (its socket closes) kills all that is
// left. Kept tiny, so that it is the last thing to fail.
//
// A child subreaper: a daemonised grandchild becomes our child and not init's, so it can be found.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "meters/cgroup.h"
#include "protocol.h"
#include "trial/processes.h"

namespace memduel {

/// What a request for a process does not say itself.
struct SpawnContext {
  int output = -1;
  int errors = -1;
  int marks = -1;                ///< -1: none
  std::uint64_t data_limit = 0;  ///< RLIMIT_DATA in bytes; 0: none
};

struct SpawnResult {
  pid_t pid = 0;              ///< 0 when the process could not be started
  std::int64_t begin_ns = 0;  ///< CLOCK_MONOTONIC right before the program was executed
  std::string step;           ///< what failed
  int error_number = 0;       ///< why
};

/// Forks into the trial's group, the working directory and the environment, and executes; returns
/// once the program runs or could not.
SpawnResult spawn(const SpawnRequest& request, const SpawnContext& context,
                  const std::string& trial, const TrialCgroup& group);

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

/// dup2 leaves close-on-exec set when both numbers are equal.
int place(int descriptor, int number) {
  if (descriptor != number) return dup2(descriptor, number);
  return fcntl(descriptor, F_SETFD, 0);
}

void connect_descriptors(const SpawnContext& context, int report) {
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0) fail(report, open_null, errno);
  if (place(nothing, 0) < 0 || place(context.output, 1) < 0 || place(context.errors, 2) < 0 ||
      (context.marks >= 0 && place(context.marks, kMarksDescriptor) < 0)) {
    fail(report, connect_streams, errno);
  }
  if (nothing > 2) close(nothing);
}

void set_variables(const SpawnRequest& request, const std::string& trial, int report) {
  bool done = setenv(kTrialVariable, trial.c_str(), 1) == 0;
  for (const std::string& variable : request.environment) {
    const std::size_t equals = variable.find('=');
    done = done && equals != std::string::npos &&
           setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1) == 0;
  }
  if (!done) fail(report, set_environment, errno);
}

[[noreturn]] void become(const SpawnRequest& request, const SpawnContext& context,
                         const std::string& trial, const TrialCgroup& group, int report) {
  // Its own process group, so that a program that signals its group reaches neither us nor others.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  if (const int error = join_cgroup(group)) fail(report, join_group, error);
  connect_descriptors(context, report);
  set_variables(request, trial, report);
  if (!request.cwd.empty() && chdir(request.cwd.c_str()) != 0) {
    fail(report, enter_directory, errno);
  }
  std::vector<char*> arguments;
  for (const std::string& argument : request.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const rlimit limit{context.data_limit, context.data_limit};
  if (context.data_limit != 0 && setrlimit(RLIMIT_DATA, &limit) != 0)
    fail(report, limit_data, errno);
  tell(report, {monotonic_ns(), execute, 0});
  execvp(arguments[0], arguments.data());
  fail(report, execute, errno);
}

}  // namespace

SpawnResult spawn(const SpawnRequest& request, const SpawnContext& context,
                  const std::string& trial, const TrialCgroup& group) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return {0, 0, "making a pipe", errno};
  // The child's copy must survive dup2 onto the small numbers and the marks' number.
  const int report = fcntl(pipe_ends[1], F_DUPFD_CLOEXEC, kMarksDescriptor + 1);
  if (report < 0) {
    const int error_number = errno;
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    return {0, 0, "making a pipe", error_number};
  }
  close(pipe_ends[1]);
  const pid_t pid = fork();
  if (pid == 0) become(request, context, trial, group, report);
  const int fork_error = errno;
  close(report);
  const Told told = pid > 0 ? last_told(pipe_ends[0]) : Told{};
  close(pipe_ends[0]);
  if (pid < 0) return {0, 0, "starting a process", fork_error};
  if (told.error_number == 0)
    return {pid, told.begin_ns == 0 ? monotonic_ns() : told.begin_ns, {}, 0};
  waitpid(pid, nullptr, 0);
  return {0, 0, kStepNames[static_cast<std::size_t>(told.step)], told.error_number};
}

namespace {

double cpu_seconds_of(const rusage& usage) {
  const auto microseconds = [](const timeval& time) {
    return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec;
  };
  return static_cast<double>(microseconds(usage.ru_utime) + microseconds(usage.ru_stime)) * 1e-6;
}

constexpr std::int64_t kKib = 1024;

class Launcher {
 public:
  Launcher(int control, std::string trial) : control_(control), trial_(std::move(trial)) {}

  /// Serves requests until `end`, until the socket closes or until SIGTERM; false where it could
  /// not begin.
  bool run() {
    const int signals = open_signals();
    if (signals < 0) {
      std::perror("memduel-launcher: opening a descriptor for signals");
      return false;
    }
    group_ = create_cgroup(kTrialCgroupPrefix + trial_);
    report(LauncherReady{group_});
    std::array<pollfd, 2> waits = {{{control_, POLLIN, 0}, {signals, POLLIN, 0}}};
    for (bool serving = true; serving;) {
      if (poll(waits.data(), waits.size(), -1) < 0) {
        if (errno == EINTR) continue;
        std::perror("memduel-launcher: waiting for requests");
        break;
      }
      if (waits[1].revents != 0) serving = take_signals(signals);
      if (serving && waits[0].revents != 0) serving = take_request();
    }
    if (asked_to_end_) wait_for_helpers();
    kill_all();
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    report(LauncherEnded{cpu_seconds_of(own), static_cast<int>(left_over_.size()), survivors_,
                         peak_bytes_of(group_)});
    remove_cgroup(group_);
    return true;
  }

 private:
  template <class Message>
  void report(Message message) const {
    send_packet(control_, fields_of(std::move(message)));
  }

  static int open_signals() {
    sigset_t watched;
    sigemptyset(&watched);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&watched, number);
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    return signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  bool take_signals(int signals) {
    signalfd_siginfo info{};
    bool serving = true;
    while (read(signals, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo != SIGCHLD) serving = false;
    }
    reap();
    return serving;
  }

  bool take_request() {
    const auto packet = receive_packet(control_);
    if (!packet) return false;
    const auto message =
        message_in<SpawnRequest, SignalRequest, LimitDataRequest, EndRequest>(packet->fields);
    asked_to_end_ = message && std::holds_alternative<EndRequest>(*message);
    if (asked_to_end_ || packet->fields.empty()) return false;
    if (!message) {
      if (packet->fields.front() == SpawnRequest::kName)
        report(Unstarted{packet->fields.size() > 1 ? packet->fields[1] : "", "reading the request",
                         EPROTO});
    } else if (const auto* asked = std::get_if<SpawnRequest>(&*message)) {
      start(*asked, packet->descriptors);
    } else if (const auto* limit = std::get_if<LimitDataRequest>(&*message)) {
      data_limit_ = static_cast<std::uint64_t>(limit->bytes);
    } else if (const auto* wanted = std::get_if<SignalRequest>(&*message)) {
      for (const auto& [pid, role] : roles_)
        if (role == wanted->role) kill(pid, wanted->number);
    }
    return true;
  }

  void start(const SpawnRequest& request, const std::vector<int>& descriptors) {
    if (request.arguments.empty() || descriptors.size() < 2)
      return report(Unstarted{request.role, "reading the request", EPROTO});
    SpawnContext context{descriptors[0], descriptors[1], -1, data_limit_};
    if (descriptors.size() > 2) context.marks = descriptors[2];
    const SpawnResult result = spawn(request, context, trial_, group_);
    for (const int descriptor : descriptors) close(descriptor);
    if (result.pid == 0) return report(Unstarted{request.role, result.step, result.error_number});
    roles_[result.pid] = request.role;
    report(Spawned{request.role, result.pid, result.begin_ns});
  }

  void reap() {
    int status = 0;
    rusage usage{};
    for (pid_t pid = 0; (pid = wait4(-1, &status, WNOHANG, &usage)) > 0;) {
      const auto role = roles_.find(pid);
      if (role == roles_.end()) {
        report(Reaped{pid, usage.ru_maxrss * kKib});
        continue;
      }
      ExitRecord record{
          monotonic_ns(), {}, {}, cpu_seconds_of(usage), usage.ru_maxrss * kKib, usage.ru_minflt,
          usage.ru_majflt};
      if (WIFSIGNALED(status))
        record.signal = WTERMSIG(status);
      else
        record.status = WEXITSTATUS(status);
      report(Exited{role->second, record});
      roles_.erase(role);
    }
  }

  /// What a program started for itself and what ends by itself soon after it, as Python's resource
  /// tracker, was not left behind. Nobody waits where a role still runs.
  void wait_for_helpers() {
    constexpr int kLooks = 20;
    constexpr useconds_t kPause = 5'000;
    for (int look = 0; look < kLooks && roles_.empty(); ++look) {
      if (descendants_of(getpid(), all_processes()).empty()) return;
      usleep(kPause);
      reap();
    }
  }

  /// Repeats until looks find nobody. A group's list misses nobody; a walk over /proc may miss a
  /// process that is forked meanwhile, so without a group a second look has to confirm the first.
  void kill_all() {
    const pid_t self = getpid();
    const int enough = group_.exists() ? 1 : 2;
    int quiet_looks = 0;
    useconds_t pause = 500;
    for (int look = 0; look < 200 && quiet_looks < enough; ++look) {
      reap();
      const auto processes = all_processes();
      std::vector<pid_t> tree = descendants_of(self, processes);
      const auto grouped = processes_in(group_);
      tree.insert(tree.end(), grouped.begin(), grouped.end());
      const auto marked = marked_processes(trial_, processes);
      report_escaped(tree, marked);
      tree.insert(tree.end(), marked.begin(), marked.end());
      if (tree.empty()) {
        ++quiet_looks;
        continue;
      }
      quiet_looks = 0;
      kill_cgroup(group_);
      for (const pid_t pid : tree) {
        kill(pid, SIGKILL);
        if (!roles_.contains(pid)) left_over_.insert(pid);
      }
      survivors_ = static_cast<int>(tree.size());
      usleep(pause);
      pause = std::min<useconds_t>(pause * 2, 50'000);
    }
    if (quiet_looks == enough) survivors_ = 0;
    reap();
  }

  void report_escaped(const std::vector<pid_t>& tree, const std::vector<pid_t>& marked) {
    for (const pid_t pid : marked) {
      const bool inside = std::ranges::find(tree, pid) != tree.end();
      if (!inside && escaped_.insert(pid).second) {
        report(Escaped{std::to_string(pid) + " (" + command_of(pid) + ")"});
      }
    }
  }

  int control_;
  std::string trial_;
  TrialCgroup group_;
  std::uint64_t data_limit_ = 0;
  std::map<pid_t, std::string> roles_;
  std::set<pid_t> escaped_;
  std::set<pid_t> left_over_;
  int survivors_ = 0;
  bool asked_to_end_ = false;
};

}  // namespace
}  // namespace memduel

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs(
        "memduel-launcher CONTROL_DESCRIPTOR TRIAL\nmemduel starts it; it is of no use alone.\n",
        stderr);
    return 2;
  }
  const int control = std::atoi(argv[1]);
  if (fcntl(control, F_SETFD, FD_CLOEXEC) != 0) {
    std::perror("memduel-launcher: control descriptor");
    return 2;
  }
  setsid();
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    std::perror("memduel-launcher: becoming a subreaper");
    return 3;
  }
  return memduel::Launcher(control, argv[2]).run() ? 0 : 3;
}
