#include "experiment/supervisor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <deque>

#include "base/error.h"
#include "experiment/exit_verdict.h"
#include "experiment/launcher/process_tree.h"
#include "experiment/launcher_client.h"
#include "experiment/monotonic.h"
#include "experiment/plan_check.h"
#include "experiment/supervised_process.h"
#include "experiment/supervisor_result.h"
#include "experiment/trial_meters.h"

namespace memduel {
namespace {

using State = SupervisedProcess::State;

constexpr std::int64_t kReadinessInterval = kSecondNs / 100;
constexpr std::int64_t kMembersInterval = kSecondNs / 5;
constexpr std::int64_t kUnmarkedSweepInterval = kSecondNs;
/// An upper bound on how long a request to stop goes unnoticed.
constexpr std::int64_t kLongestWait = kSecondNs / 10;

double seconds_as_ns(double seconds) {
  return seconds * static_cast<double>(kSecondNs);
}

class Supervisor {
 public:
  Supervisor(const TrialPlan& plan, const SupervisorOptions& options)
      : plan_(plan),
        options_(options),
        meters_(plan),
        begin_ns_(monotonic_ns()),
        oom_kills_before_(oom_kills_anywhere()),
        trial_name_(unique_trial_name(plan.id)) {
    for (const ProcessSpec& spec : plan.processes) processes_.emplace_back(spec, plan);
  }

  TrialRun run() {
    Descriptor poll(epoll_create1(EPOLL_CLOEXEC));
    poll_ = poll.get();
    LauncherClient launcher(options_.launcher, trial_name_);
    launcher_ = &launcher;
    watch(launcher.descriptor(), nullptr);
    for (SupervisedProcess& process : processes_) watch(process.marks.descriptor(), &process);
    while (!over()) step();
    end_trial();
    throw_if_stopped();
    outcome_.begin_ns = begin_ns_;
    outcome_.end_ns = monotonic_ns();
    outcome_.harness_cpu_seconds += meters_.cpu_seconds();
    return make_result(plan_, outcome_, processes_, meters_);
  }

 private:
  // ---- the loop ----

  void step() {
    start_what_can_start();
    wait_for_events(std::min(next_due(), monotonic_ns() + kLongestWait));
    const std::int64_t now = monotonic_ns();
    check_readiness(now);
    find_members(now);
    meters_.sample(now);
    sweep_unmarked(now);
    check_deadlines(now);
  }

  [[nodiscard]] bool over() const { return outcome_.failed() || stop_asked() || all_ended(); }

  [[nodiscard]] bool stop_asked() const {
    return options_.stop_signal != nullptr && options_.stop_signal->load() != 0;
  }

  [[nodiscard]] bool all_ended() const {
    return std::all_of(processes_.begin(), processes_.end(),
                       [](const auto& process) { return process.state == State::ended; });
  }

  void watch(int descriptor, SupervisedProcess* process) const {
    epoll_event event{EPOLLIN, {.ptr = process}};
    epoll_ctl(poll_, EPOLL_CTL_ADD, descriptor, &event);
  }

  [[nodiscard]] std::int64_t next_due() const {
    std::int64_t due = meters_.due_ns();
    for (const SupervisedProcess& process : processes_) {
      if (process.state == State::running && !process.is_ready)
        due = std::min(due, readiness_due_ns_);
    }
    return due;
  }

  void wait_for_events(std::int64_t until_ns) {
    const std::int64_t left = std::max<std::int64_t>(0, until_ns - monotonic_ns());
    const timespec timeout{left / kSecondNs, left % kSecondNs};
    std::array<epoll_event, 16> events{};
    const int count = epoll_pwait2(poll_, events.data(), events.size(), &timeout, nullptr);
    for (int at = 0; at < count; ++at) {
      auto* process =
          static_cast<SupervisedProcess*>(events[static_cast<std::size_t>(at)].data.ptr);
      if (process != nullptr) {
        take_marks(*process);
      } else {
        take_report(launcher_->report());
      }
    }
  }

  // ---- starting ----

  SupervisedProcess& named(const std::string& role) {
    return *std::find_if(processes_.begin(), processes_.end(),
                         [&](const auto& process) { return process.role() == role; });
  }

  void start_what_can_start() {
    for (SupervisedProcess& process : processes_) {
      const auto& after = process.spec().after;
      const bool can_start = process.state == State::waiting &&
                             std::all_of(after.begin(), after.end(),
                                         [&](const auto& role) { return named(role).is_ready; });
      if (!can_start) continue;
      process.state = State::starting;
      const int error = launcher_->request(process.spawn_request(), process.spawn_descriptors());
      process.release_descriptors();
      if (error != 0) {
        fail(process, fmt::format("cannot be started: {}", std::strerror(error)));
        return;
      }
    }
  }

  void check_readiness(std::int64_t now) {
    if (now < readiness_due_ns_) return;
    readiness_due_ns_ = now + kReadinessInterval;
    for (SupervisedProcess& process : processes_) {
      if (process.state != State::running || process.is_ready) continue;
      if (process.readiness->met(now, process.members)) {
        process.is_ready = true;
        process.trace.ready_ns = now;
      } else if (static_cast<double>(now - process.started_ns) >
                 seconds_as_ns(process.spec().ready->within_seconds)) {
        fail(process,
             fmt::format("was not ready within {} s; waited for {}",
                         process.spec().ready->within_seconds, process.readiness->describe()));
      }
    }
  }

  // ---- what the launcher says ----

  void take_report(const std::optional<Packet>& report) {
    if (!report) {
      launcher_lost_ = true;
      outcome_.fail_harness("the launcher was lost");
      return;
    }
    const auto& fields = report->fields;
    if (fields[0] == "spawned") spawned(fields);
    if (fields[0] == "unstarted") unstarted(fields);
    if (fields[0] == "exited") exited(fields);
    if (fields[0] == "escaped") {
      outcome_.escaped.push_back(fmt::format("{} ({})", fields[1], fields[2]));
    }
    if (fields[0] == "ended") ended(fields);
  }

  void spawned(const std::vector<std::string>& fields) {
    SupervisedProcess& process = named(fields[1]);
    process.state = State::running;
    process.pid = std::stoi(fields[2]);
    process.started_ns = monotonic_ns();
    process.trace.begin_ns = process.started_ns;
    process.is_ready = !process.readiness;
    add_member(process, process.pid);
  }

  void unstarted(const std::vector<std::string>& fields) {
    SupervisedProcess& process = named(fields[1]);
    process.state = State::ended;
    fail(process,
         fmt::format("could not be started: {} ({}) failed: {}", fields[2],
                     fmt::join(process.spec().argv, " "), std::strerror(std::stoi(fields[3]))));
  }

  void exited(const std::vector<std::string>& fields) {
    SupervisedProcess& process = named(fields[1]);
    take_marks(process);
    process.state = State::ended;
    ExitRecord record;
    record.t_ns = monotonic_ns();
    (fields[2] == "signal" ? record.signal : record.status) = std::stoi(fields[3]);
    record.cpu_seconds = std::stod(fields[4]) * 1e-6;
    record.max_rss_bytes = std::stoll(fields[5]) * 1024;
    record.minor_faults = std::stoll(fields[6]);
    record.major_faults = std::stoll(fields[7]);
    process.trace.exit = record;
    const ExitContext context = exit_context(process);
    process.trace.ended_well = ended_well(process.spec(), record, context);
    if (!process.trace.ended_well && !stop_asked()) {
      if (context.killed_for_memory) outcome_.status = TrialStatus::killed_for_memory;
      fail(process, describe_exit(record, context));
    }
    stop_others_when_due();
  }

  [[nodiscard]] ExitContext exit_context(const SupervisedProcess& process) const {
    return {process.is_ready, process.asked_to_stop, killed_for_memory(), process.running_round,
            process.readiness ? process.readiness->describe() : std::string()};
  }

  /// Whether the kernel's count of processes killed for memory grew: the trial's own group's count,
  /// or without a group that of the whole machine.
  [[nodiscard]] bool killed_for_memory() const {
    if (launcher_lost_) return false;
    if (const auto own = oom_kills_of(launcher_->cgroup())) return *own > 0;
    const auto anywhere = oom_kills_anywhere();
    return anywhere && oom_kills_before_ && *anywhere > *oom_kills_before_;
  }

  void ended(const std::vector<std::string>& fields) {
    outcome_.harness_cpu_seconds += std::stod(fields[1]) * 1e-6;
    outcome_.left_over = std::stoi(fields[2]);
    outcome_.survivors = std::stoi(fields[3]);
    if (fields[4] != "-") outcome_.trace.peak_cgroup_bytes = std::stoll(fields[4]);
    launcher_ended_ = true;
  }

  // ---- metering ----

  void add_member(SupervisedProcess& process, pid_t pid) {
    process.members.push_back(pid);
    meters_.add(process.role(), pid);
  }

  /// Descendants count for the role whose name they carry in their environment.
  void find_members(std::int64_t now) {
    if (now < members_due_ns_) return;
    const TrialCgroup& group = launcher_->cgroup();
    members_due_ns_ = now + (group.exists() ? kMembersInterval : kMembersInterval * 5);
    const auto found =
        group.exists() ? processes_in(group) : descendants_of(launcher_->pid(), all_processes());
    for (const pid_t pid : found) {
      if (std::find(known_members_.begin(), known_members_.end(), pid) != known_members_.end()) {
        continue;
      }
      known_members_.push_back(pid);
      const auto role = environment_of(pid, kRoleVariable);
      for (SupervisedProcess& process : processes_) {
        if (process.pid != pid && role == process.role()) add_member(process, pid);
      }
    }
  }

  [[nodiscard]] const SupervisedProcess& reference() const {
    const auto server = std::find_if(processes_.begin(), processes_.end(), [](const auto& process) {
      return process.role() == "server";
    });
    return server == processes_.end() ? processes_.front() : *server;
  }

  /// A trial without marks has no round ends to read PSS at.
  void sweep_unmarked(std::int64_t now) {
    if (reference().marking_pid == 0 && now - meters_.last_sweep_ns() >= kUnmarkedSweepInterval) {
      sweep(now, false);
    }
  }

  void sweep(std::int64_t now, bool must) {
    std::vector<std::string> running;
    for (const SupervisedProcess& process : processes_) {
      if (process.state == State::running) running.push_back(process.role());
    }
    meters_.sweep(now, running, running.size() == processes_.size(), must);
  }

  void take_marks(SupervisedProcess& process) {
    for (Mark& mark : process.receive_marks()) {
      if (mark.kind == Mark::Kind::start) {
        process.trace.peaks_reset = !mark.no_reset;
        continue;
      }
      MarkEvent event{std::move(mark), {}};
      note_round(process, event);
      process.trace.marks.push_back(std::move(event));
    }
    if (process.marks.closed()) {
      epoll_ctl(poll_, EPOLL_CTL_DEL, process.marks.descriptor(), nullptr);
    }
  }

  void note_round(SupervisedProcess& process, MarkEvent& event) {
    const auto kind = event.mark.kind;
    if (kind != Mark::Kind::idle && kind != Mark::Kind::round_begin &&
        kind != Mark::Kind::round_end) {
      return;
    }
    event.reading = meters_.read(process.role());
    if (kind == Mark::Kind::round_begin) process.running_round = event.mark.round;
    if (kind != Mark::Kind::round_end) return;
    process.running_round.reset();
    if (&process == &reference()) sweep(monotonic_ns(), plan_.rounds == event.mark.round);
  }

  // ---- the end ----

  void check_deadlines(std::int64_t now) {
    if (static_cast<double>(now - begin_ns_) > seconds_as_ns(plan_.deadline_seconds)) {
      std::vector<std::string> running;
      for (const auto& process : processes_) {
        if (process.state != State::ended) running.push_back(process.role());
      }
      outcome_.fail(fmt::format("the trial did not end within {} s; still there: {}",
                                plan_.deadline_seconds, fmt::join(running, ", ")));
      for (const auto& process : processes_) {
        if (process.state == State::running) {
          outcome_.failure += fmt::format("\n{}:{}", process.role(), process.last_words());
        }
      }
    }
    if (stopping_since_ns_ != 0 && !grace_is_over_ &&
        static_cast<double>(now - stopping_since_ns_) > seconds_as_ns(plan_.stop_grace_seconds)) {
      grace_is_over_ = true;
      signal_running(SIGKILL);
    }
  }

  void stop_others_when_due() {
    const bool all_waited_for =
        std::all_of(processes_.begin(), processes_.end(), [](const auto& process) {
          return process.spec().end == End::stop || process.state == State::ended;
        });
    if (!all_waited_for || stopping_since_ns_ != 0) return;
    stopping_since_ns_ = monotonic_ns();
    signal_running(SIGTERM);
  }

  void signal_running(int number) {
    for (SupervisedProcess& process : processes_) {
      // One that is still waiting for its turn has nothing left to do.
      if (process.state == State::waiting) process.state = State::ended;
      if (process.state != State::running) continue;
      process.asked_to_stop = true;
      if (number == SIGKILL) outcome_.killed_after_grace.push_back(process.role());
      launcher_->request({"signal", process.role(), std::to_string(number)});
    }
  }

  void fail(const SupervisedProcess& process, const std::string& what) {
    if (outcome_.failed()) return;
    outcome_.fail(fmt::format("{} {}{}", process.role(), what, process.last_words()));
  }

  /// Tells the launcher to end and takes its last reports.
  void end_trial() {
    if (launcher_lost_) return;
    launcher_->request({"end"});
    while (!launcher_ended_ && !launcher_lost_) {
      auto report = launcher_->report_within(std::chrono::seconds(30));
      take_report(report);
    }
  }

  void throw_if_stopped() const {
    if (!stop_asked()) return;
    const bool terminated = options_.stop_signal->load() == SIGTERM;
    throw Error(terminated ? ExitCode::terminated : ExitCode::interrupted,
                terminated ? "terminated" : "interrupted");
  }

  const TrialPlan& plan_;
  const SupervisorOptions& options_;
  TrialMeters meters_;
  std::int64_t begin_ns_;
  std::optional<std::int64_t> oom_kills_before_;
  std::string trial_name_;
  std::deque<SupervisedProcess> processes_;
  std::vector<pid_t> known_members_;
  LauncherClient* launcher_ = nullptr;
  int poll_ = -1;
  std::int64_t readiness_due_ns_ = 0;
  std::int64_t members_due_ns_ = 0;
  std::int64_t stopping_since_ns_ = 0;
  bool grace_is_over_ = false;
  bool launcher_lost_ = false;
  bool launcher_ended_ = false;
  TrialOutcome outcome_;
};

}  // namespace

std::filesystem::path find_launcher() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto launcher = self.parent_path() / "memduel-launcher";
  if (error || !std::filesystem::exists(launcher, error)) {
    throw Error(ExitCode::io, "memduel-launcher is not there", launcher.string(),
                "build or install it beside memduel");
  }
  return launcher;
}

TrialRun run_trial(const TrialPlan& plan, const SupervisorOptions& options) {
  check_plan(plan);
  return Supervisor(plan, options).run();
}

}  // namespace memduel
