// Starts a trial's processes in the order of their dependencies and waits until each is ready.
#pragma once

#include <cstdint>

#include "experiment/supervision/supervisor_result.h"
#include "experiment/supervision/trial_processes.h"
#include "experiment/trial/launcher_client.h"
#include "experiment/trial/launcher_reports.h"

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

}  // namespace memduel
