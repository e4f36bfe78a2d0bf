// memduel-launcher: the parent of every process of one trial. It starts them, reports how they end,
// and when the trial ends or memduel is gone in whatever way (its socket closes) kills all that is
// left. Kept tiny, so that it is the last thing to fail.
//
// A child subreaper: a daemonised grandchild becomes our child and not init's, so it can be found.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "meters/cgroup.h"
#include "protocol.h"
#include "trial/processes.h"
#include "util/file.h"
#include "util/signal_queue.h"
#include "util/spawn.h"

namespace memduel {
namespace {

/// The steps of Unstarted.
const char* words_for(SpawnStep step) {
  switch (step) {
    case SpawnStep::make_process:
      return "starting a process";
    case SpawnStep::join_groups:
      return "joining the cgroup";
    case SpawnStep::connect_descriptors:
      return "connecting output";
    case SpawnStep::enter_directory:
      return kEnteringDirectory;
    case SpawnStep::limit_data:
      return "limiting its memory";
    case SpawnStep::execute:
      return kExecutingProgram;
  }
  return "";
}

class Launcher {
 public:
  Launcher(int control, std::string trial) : control_(control), trial_(std::move(trial)) {}

  /// Serves requests until `end`, until the socket closes or until SIGTERM; false where it could
  /// not begin.
  bool run() {
    SignalQueue signals({SIGCHLD, SIGTERM, SIGINT, SIGHUP});
    if (signals.descriptor() < 0) {
      std::perror("memduel-launcher: opening a descriptor for signals");
      return false;
    }
    group_ = create_cgroup(kTrialCgroupPrefix + trial_);
    report(LauncherReady{group_});
    std::array<pollfd, 2> waits = {{{control_, POLLIN, 0}, {signals.descriptor(), POLLIN, 0}}};
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

  bool take_signals(SignalQueue& signals) {
    bool serving = true;
    while (const auto number = signals.next()) serving = serving && *number == SIGCHLD;
    reap();
    return serving;
  }

  bool take_request() {
    const auto packet = receive_packet(control_);
    if (!packet) return false;
    const bool goes_on = take(*packet);
    for (const int descriptor : packet->descriptors) close(descriptor);
    return goes_on;
  }

  /// Whether more requests are to come.
  bool take(const Packet& packet) {
    const auto message =
        message_in<SpawnRequest, SignalRequest, LimitDataRequest, EndRequest>(packet.fields);
    asked_to_end_ = message && std::holds_alternative<EndRequest>(*message);
    if (asked_to_end_ || packet.fields.empty()) return false;
    if (!message) {
      if (packet.fields.front() == SpawnRequest::kName)
        report(Unstarted{packet.fields.size() > 1 ? packet.fields[1] : "", "reading the request",
                         EPROTO});
    } else if (const auto* asked = std::get_if<SpawnRequest>(&*message)) {
      start(*asked, packet.descriptors);
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
    const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!nothing) return report(Unstarted{request.role, "opening /dev/null", errno});
    SpawnOptions options;
    options.arguments = request.arguments;
    options.environment = request.environment;
    options.environment.push_back(std::string(kTrialVariable) + "=" + trial_);
    options.directory = request.cwd;
    options.descriptors = {{nothing.get(), STDIN_FILENO},
                           {descriptors[0], STDOUT_FILENO},
                           {descriptors[1], STDERR_FILENO}};
    if (descriptors.size() > 2) options.descriptors.emplace_back(descriptors[2], kMarksDescriptor);
    options.is_contained = true;
    options.group = group_.kill_dir;
    if (group_.memory_dir != group_.kill_dir)
      options.groups = process_lists_of({group_.memory_dir, {}});
    options.data_limit = data_limit_;
    const SpawnResult result = spawn(options);
    if (result.pid == 0)
      return report(Unstarted{request.role, words_for(result.failed), result.error_number});
    roles_[result.pid] = request.role;
    report(Spawned{request.role, result.pid, result.begin_ns});
  }

  void reap() {
    int status = 0;
    rusage usage{};
    for (pid_t pid = 0; (pid = wait4(-1, &status, WNOHANG, &usage)) > 0;) {
      const auto role = roles_.find(pid);
      if (role == roles_.end()) {
        report(Reaped{pid, max_rss_bytes_of(usage)});
        continue;
      }
      report(Exited{role->second, exit_record_of(status, usage)});
      roles_.erase(role);
    }
  }

  /// What a program started for itself and what ends by itself soon after it, as Python's resource
  /// tracker, was not left behind. Nobody waits where a role still runs.
  void wait_for_helpers() {
    constexpr int kLooks = 20;
    constexpr useconds_t kPause = 5'000;
    for (int look = 0; look < kLooks && roles_.empty(); ++look) {
      if (descendants_of(getpid()).empty()) return;
      usleep(kPause);
      reap();
    }
  }

  /// Repeats until looks find nobody. A group's list misses nobody; a walk over /proc may miss a
  /// process that is forked meanwhile, so without a group a second look has to confirm the first.
  void kill_all() {
    const pid_t self = getpid();
    const int enough = group_.exists() ? 1 : 2;
    // To read the environment of every process costs more than all else: those that ran before the
    // trial are none of its.
    const auto own = process_line(self);
    const auto is_older = [&](const ProcessLine& process) {
      return own && own->started && process.started && *process.started < *own->started;
    };
    int quiet_looks = 0;
    useconds_t pause = 500;
    for (int look = 0; look < 200 && quiet_looks < enough; ++look) {
      reap();
      auto processes = all_processes();
      std::vector<pid_t> tree = descendants_of(self, processes);
      const auto grouped = processes_in(group_);
      tree.insert(tree.end(), grouped.begin(), grouped.end());
      std::erase_if(processes, is_older);
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
        "memduel-launcher CONTROL_DESCRIPTOR TRIAL\nmemduel starts it; do not run it directly.\n",
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
