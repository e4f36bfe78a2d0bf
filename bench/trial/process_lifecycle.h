// Whom a trial tells to end, and when: once what it waits for has ended, or after its last round.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiment/supervision/trial_processes.h"

namespace memduel {

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

}  // namespace memduel
