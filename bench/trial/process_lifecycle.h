// How a trial's processes start, in the order of their dependencies, put themselves into the
// background, and are told to end: once what the trial waits for has ended, or after its last
// round.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "launcher_client.h"
#include "trial_processes.h"
#include "trial_result.h"

namespace memduel {

/// A process that cannot be started, or is not ready in time, fails the trial.
class Starting {
 public:
  /// All three must outlive this.
  Starting(TrialProcesses& processes, LauncherClient& launcher, TrialOutcome& outcome);

  /// Asks the launcher for those whose `after` are ready.
  void start_what_can_start();
  void check_readiness(std::int64_t now_ns);
  /// When to check again; INT64_MAX while nothing is waited for.
  [[nodiscard]] std::int64_t due_ns() const;

  /// The launcher's answers.
  SupervisedProcess& take(const Spawned& spawned);
  void take(const Unstarted& unstarted);

 private:
  TrialProcesses& processes_;
  LauncherClient& launcher_;
  TrialOutcome& outcome_;
  std::int64_t due_ns_ = 0;
};

/// `processes` must outlive this.
class Daemons {
 public:
  explicit Daemons(TrialProcesses& processes) : processes_(processes) {}

  /// Whether a process that was expected to go on has ended well and left living descendants: then
  /// they are the role from now on.
  bool take_over(SupervisedProcess& process, const ExitRecord& record);

  /// Those of which no process lives any more: the launcher reports the ends of roles' own
  /// processes only.
  [[nodiscard]] std::vector<std::pair<SupervisedProcess*, ExitRecord>> ended(std::int64_t now_ns);

 private:
  TrialProcesses& processes_;
};

/// First SIGTERM; SIGKILL after the plan's grace.
class Stopping {
 public:
  using Signal = std::function<void(SupervisedProcess& process, int number)>;

  /// `plan` and `processes` must outlive this.
  Stopping(const TrialPlan& plan, TrialProcesses& processes, Signal signal);

  /// Begins once every process that the trial waits for has ended.
  void once_waited_for(std::int64_t now_ns);
  /// Begins once all roles that mark rounds have ended the plan's last one. With marks from lines a
  /// role may only tell where rounds begin: the next one's begin ends them, and the last one is
  /// over when it took twice as long as any before.
  void after_last_round(std::int64_t now_ns);
  /// A process that came up too late to hear of it.
  void stop_if_begun(SupervisedProcess& process);
  /// Kills what has not ended within the grace.
  void check_grace(std::int64_t now_ns);

  [[nodiscard]] bool began_after_last_round() const { return after_last_round_; }
  /// The roles that did not end on SIGTERM.
  [[nodiscard]] const std::vector<std::string>& killed_after_grace() const { return killed_; }

 private:
  void begin(std::int64_t now_ns);
  void signal_running(int number);
  void stop(SupervisedProcess& process, int number);

  const TrialPlan& plan_;
  TrialProcesses& processes_;
  Signal signal_;
  std::int64_t since_ns_ = 0;
  bool after_last_round_ = false;
  bool grace_is_over_ = false;
  std::vector<std::string> killed_;
};

/// Sends SIGTERM to the processes of the step of this name. srun, which started it, would send
/// SIGKILL for a SIGTERM of its own. Returns whether there was such a step.
bool terminate_slurm_step(const std::string& name);

}  // namespace memduel
