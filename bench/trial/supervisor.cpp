// One trial while it runs: the job's loop, with what the launcher reports and how it ends.

#include "trial/supervisor.h"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "allocator_check.h"
#include "job_loop.h"
#include "launcher_client.h"
#include "meters/cgroup.h"
#include "process_lifecycle.h"
#include "trial/processes.h"
#include "trial/sampling.h"
#include "trial/trial_plan.h"
#include "trial_failure.h"
#include "trial_processes.h"
#include "trial_result.h"
#include "util/error.h"
#include "util/signal_queue.h"

namespace memduel {

/// It owns what it is made of and passes on what happens: `starting` and `stopping` change what the
/// processes do, `job` what is known of them, `outcome` says how it went.
class Supervision {
 public:
  /// Makes the log files and starts the launcher. `plan` has passed check_plan; both must outlive
  /// this.
  Supervision(const TrialPlan& plan, const SupervisorOptions& options);

  /// See run_trial.
  TrialRun run();

 private:
  void step();
  [[nodiscard]] bool over() const;
  void limit_memory();
  void take_event(const void* source);
  void hand_signals_on();
  void look(std::int64_t now_ns);
  void signal(const SupervisedProcess& process, int number);
  void take_report(const std::optional<Packet>& packet);
  void exited(const Exited& exited);
  void end_process(SupervisedProcess& process, const ExitRecord& record);
  void end_trial();
  void check_ports();

  const TrialPlan& plan_;
  const SupervisorOptions& options_;
  std::int64_t begin_ns_;
  MemoryKills memory_kills_;
  SignalQueue& handed_on_;
  TrialOutcome outcome_;
  LauncherClient launcher_;
  JobLoop job_;
  TrialProcesses& processes_;
  Starting starting_;
  Stopping stopping_;
  Daemons daemons_;
};

namespace {

using State = SupervisedProcess::State;

/// An upper bound on how long a request to stop goes unnoticed.
constexpr std::int64_t kLongestWait = kSecondNs / 10;

/// A sampler that preempts a worker each 2 ms costs it its cache and its place: rounds took 6%
/// longer (research/harness). As a batch task it waits for the next switch; what it starts does not
/// inherit that. Where it may not, sampling goes on as it is.
void sample_without_preempting() {
  const sched_param parameters{};
  if (sched_getscheduler(0) == SCHED_OTHER)
    sched_setscheduler(0, SCHED_BATCH | SCHED_RESET_ON_FORK, &parameters);
}

/// What a failure may come from: the process did not wait for one that was not ready yet.
std::string came_too_early(const SupervisedProcess& process,
                           const std::deque<SupervisedProcess>& all) {
  const auto unready = std::ranges::find_if(
      all, [](const SupervisedProcess& other) { return other.readiness && !other.is_ready; });
  if (!process.is_ready || unready == all.end()) return {};
  return fmt::format(" while {} was not ready yet (set \"after\" to make it wait)",
                     unready->role());
}

/// SIGUSR1 and SIGUSR2 are for the processes of a trial, as those that a watch gets are for its
/// command. From the first trial on they no longer end this process; those that came between two
/// trials are for nobody.
SignalQueue& signals_to_hand_on() {
  static SignalQueue signals({SIGUSR1, SIGUSR2});
  while (signals.next()) {
  }
  return signals;
}

bool is_asked_to_stop(const TrialPlan& plan, const SupervisorOptions& options) {
  if (options.stop == nullptr) return false;
  return plan.ignores_stop ? options.stop->asked_for_haste() : options.stop->asked();
}

}  // namespace

Supervision::Supervision(const TrialPlan& plan, const SupervisorOptions& options)
    : plan_(plan),
      options_(options),
      begin_ns_(monotonic_ns()),
      handed_on_(signals_to_hand_on()),
      launcher_(options.launcher, unique_trial_name(plan.id)),
      job_(plan, TrialMeters(plan),
           {.living = [this] { return launcher_.living(); },
            .rest_in_even_rounds = options.rest_in_even_rounds,
            .cgroup = launcher_.cgroup()}),
      processes_(job_.processes),
      starting_(processes_, launcher_, outcome_),
      stopping_(plan, processes_,
                [this](const SupervisedProcess& process, int number) {
                  job_.metering.about_to_stop();
                  signal(process, number);
                }),
      daemons_(processes_) {
  outcome_.trace.reference = plan.reference;
  job_.events.add(launcher_.descriptor(), &launcher_);
  if (handed_on_.descriptor() >= 0) job_.events.add(handed_on_.descriptor(), &handed_on_);
}

void Supervision::signal(const SupervisedProcess& process, int number) {
  if (const auto& remote = process.spec().remote;
      remote && number == SIGTERM && terminate_slurm_step(remote->token))
    return;
  if (!process.is_daemon) return launcher_.signal(process.role(), number);
  for (const pid_t pid : process.members) kill(pid, number);
}

/// Throws Error(cannot_measure) where the trial has no control group of its own.
void Supervision::limit_memory() {
  if (!plan_.memory_limit) return;
  const auto [bytes, of_each_process] = *plan_.memory_limit;
  if (of_each_process) return launcher_.limit_data(bytes);
  const int error = limit_cgroup(launcher_.cgroup(), bytes);
  if (error != 0)
    throw Error(ExitCode::cannot_measure,
                fmt::format("cannot limit the memory of a trial: {}",
                            std::generic_category().message(error)),
                "cgroups",
                "run as root, or in a delegated cgroup: systemd-run --user --scope "
                "--property=Delegate=yes memduel …");
}

TrialRun Supervision::run() {
  limit_memory();
  sample_without_preempting();
  while (!over()) step();
  job_.metering.take_lines(job_.lines.finish());
  job_.metering.end();
  end_trial();
  if (is_asked_to_stop(plan_, options_)) throw options_.stop->error("stopped by a signal");
  verify_allocators(plan_, processes_, outcome_);
  check_ports();
  outcome_.begin_ns = begin_ns_;
  outcome_.end_ns = monotonic_ns();
  outcome_.harness_cpu_seconds += job_.meters.cpu_seconds();
  outcome_.trace.cgroup_parts = job_.metering.cgroup_peak().parts();
  outcome_.trace.shared_once = job_.metering.cgroup_peak().shared_once();
  outcome_.trace.cgroup_rounds = job_.metering.cgroup_rounds().peaks();
  if (auto& peak = outcome_.trace.peak_cgroup_bytes)
    *peak = std::max(*peak, job_.metering.cgroup_rounds().largest_bytes());
  outcome_.killed_after_grace = stopping_.killed_after_grace();
  TrialRun result = make_result(plan_, outcome_, processes_, job_.meters);
  for (Note& note : job_.lines.limitations()) result.limitations.push_back(std::move(note));
  for (Note& note : job_.lines.warnings()) result.warnings.push_back(std::move(note));
  return result;
}

void Supervision::step() {
  starting_.start_what_can_start();
  job_.turn(
      std::min(starting_.due_ns(), monotonic_ns() + kLongestWait),
      [this](const void* source) { take_event(source); },
      [this](std::int64_t now_ns) { look(now_ns); });
  const std::int64_t now = monotonic_ns();
  if (static_cast<double>(now - begin_ns_) > seconds_as_ns(plan_.deadline_seconds))
    outcome_.fail(describe_overrun(plan_, processes_.started()));
  stopping_.after_last_round(now);
  stopping_.check_grace(now);
  launcher_.kill_if_stopped_for(seconds_as_ns(plan_.stop_grace_seconds), now);
}

void Supervision::take_event(const void* source) {
  source == &launcher_ ? take_report(launcher_.report()) : hand_signals_on();
}

/// To those that have a handler: it would end the others, and nobody asks a whole job to end so.
void Supervision::hand_signals_on() {
  while (const auto number = handed_on_.next()) {
    for (const SupervisedProcess& process : processes_.started()) {
      if (process.state != State::running) continue;
      if (!process.is_daemon && catches_signal(process.pid, *number)) signal(process, *number);
      for (const pid_t pid : process.members)
        if (process.is_daemon && catches_signal(pid, *number)) kill(pid, *number);
    }
  }
}

void Supervision::look(std::int64_t now_ns) {
  starting_.check_readiness(now_ns);
  // A process whose report has not come yet would be taken for a descendant.
  if (!processes_.any(State::starting)) processes_.look(now_ns);
  for (const auto& [process, record] : daemons_.ended(now_ns)) end_process(*process, record);
}

bool Supervision::over() const {
  return outcome_.failed() || is_asked_to_stop(plan_, options_) || processes_.all_ended();
}

void Supervision::take_report(const std::optional<Packet>& packet) {
  if (!packet) return outcome_.fail_harness("the launcher exited");
  const auto report = read_report(packet->fields);
  if (!report) return;
  if (const auto* spawned = std::get_if<Spawned>(&*report)) {
    SupervisedProcess& process = starting_.take(*spawned);
    // Not before: what a mark asks to be read is read of the members.
    job_.listen_to(process);
    stopping_.stop_if_begun(process);
  } else if (const auto* unstarted = std::get_if<Unstarted>(&*report)) {
    starting_.take(*unstarted);
  } else if (const auto* gone = std::get_if<Exited>(&*report)) {
    exited(*gone);
  } else if (const auto* reaped = std::get_if<Reaped>(&*report)) {
    processes_.reaped(reaped->pid, reaped->max_rss_bytes);
  } else if (const auto* escaped = std::get_if<Escaped>(&*report)) {
    outcome_.escaped.push_back(escaped->process);
  } else if (const auto* ended = std::get_if<LauncherEnded>(&*report)) {
    outcome_.take(*ended);
    launcher_.ended(ended->survivors == 0);
  }
}

void Supervision::exited(const Exited& exited) {
  SupervisedProcess& process = processes_.named(exited.role);
  job_.take_marks(process);
  if (outcome_.failed() || !daemons_.take_over(process, exited.record))
    end_process(process, exited.record);
}

void Supervision::end_process(SupervisedProcess& process, const ExitRecord& record) {
  job_.end(process);
  RoleTrace& trace = process.trace;
  trace.exit = record;
  // Its last lines are read after its end.
  if (!trace.marks.empty())
    trace.exit->t_ns = std::max(trace.exit->t_ns, trace.marks.back().mark.t_ns);
  const ExitContext context{process.is_ready,
                            process.asked_to_stop,
                            !launcher_.is_over() && memory_kills_.grew(launcher_.cgroup()),
                            process.running_round,
                            process.readiness ? process.readiness->describe() : std::string(),
                            process.asked_to_stop && stopping_.began_after_last_round()};
  trace.ended_well = ended_well(process.spec(), record, context);
  if (!trace.ended_well && !outcome_.failed() && !is_asked_to_stop(plan_, options_)) {
    if (context.killed_for_memory) outcome_.status = TrialStatus::killed_for_memory;
    outcome_.fail_of(
        process, describe_exit(record, context) + came_too_early(process, processes_.started()));
  }
  const std::int64_t now = monotonic_ns();
  stopping_.after_last_round(now);
  stopping_.once_waited_for(now);
}

/// Tells the launcher to end and takes its last reports.
void Supervision::end_trial() {
  if (launcher_.is_over()) return;
  launcher_.ask_to_end();
  while (!launcher_.is_over()) take_report(launcher_.report_within(std::chrono::seconds(30)));
}

/// Everything of the trial is gone: who still listens is not of it.
void Supervision::check_ports() {
  for (const auto& [name, port] : plan_.ports) {
    const auto holder = listener_on(port);
    if (!holder) continue;
    outcome_.warnings.push_back(
        {"port_still_held",
         fmt::format("{} still listens on the port {{port:{}}} after the trial", *holder, name),
         "a process outside the trial may have responded instead"});
  }
}

TrialRun run_trial(const TrialPlan& plan, const SupervisorOptions& options) {
  check_plan(plan);
  return Supervision(plan, options).run();
}

namespace {

Capability launcher() {
  try {
    return {"launcher", true, find_launcher().string(), {}};
  } catch (const Error& error) {
    return {"launcher", false, error.message(),
            "build or install memduel-launcher next to memduel"};
  }
}

Capability subreaper() {
  int on = 0;
  if (prctl(PR_GET_CHILD_SUBREAPER, &on) == 0) {
    return {"subreaper", true, "daemonized processes can be found", {}};
  }
  return {"subreaper", false, "the kernel does not support child subreapers",
          "use Linux 3.4 or later"};
}

Capability cgroup(const TrialCgroup& group) {
  if (group.exists()) {
    const std::string memory = group.memory_dir.empty()
                                   ? "no memory controller: peak_cgroup_bytes is absent"
                                   : "with memory accounting";
    return {"cgroup", true, "every trial has its own cgroup, " + memory, {}};
  }
  return {"cgroup", false, "no cgroup can be created here; leftovers are found through /proc",
          "run as root, or in a delegated cgroup: systemd-run --user --scope -p Delegate=yes"};
}

Capability oom_counter(const TrialCgroup& group) {
  if (oom_kills_of(group)) {
    return {"oom_counter", true, "out-of-memory kills are counted per trial", {}};
  }
  if (oom_kills_anywhere()) {
    return {"oom_counter", true, "out-of-memory kills are counted for the whole machine", {}};
  }
  return {"oom_counter", false, "the kernel does not count out-of-memory kills",
          "use Linux 4.13 or later; otherwise such a trial is reported as failed"};
}

}  // namespace

std::vector<Capability> supervision_capabilities() {
  const TrialCgroup group = create_cgroup(fmt::format("memduel-doctor-{}", getpid()));
  std::vector<Capability> capabilities = {launcher(), subreaper(), cgroup(group),
                                          oom_counter(group)};
  remove_cgroup(group);
  return capabilities;
}

}  // namespace memduel
