// Runs one trial: starts its processes under the launcher in the order of their dependencies,
// meters them, waits for their end, and leaves nothing behind.
#pragma once

#include <filesystem>

#include "base/stop_request.h"
#include "experiment/contract/trial_plan.h"
#include "experiment/contract/trial_run.h"

namespace memduel {

struct SupervisorOptions {
  std::filesystem::path launcher;     ///< the program memduel-launcher
  const StopRequest* stop = nullptr;  ///< asks for an early end
  /// Outside meters rest in the reference role's even rounds: shows what metering costs.
  bool rest_in_even_rounds = false;
};

/// Runs `plan` to its end. A process that fails, never gets ready or passes the deadline is a trial
/// with status failed or killed_for_memory, not an exception; `harness_fault` says that the fault
/// was ours (the launcher was lost). In every case no process of the trial is left when this
/// returns. Throws Error(usage) for a plan that cannot be run (unknown role in `after`, a cycle, no
/// process that ends the trial, an unknown meter), Error(io) when a log file cannot be made, and
/// Error(interrupted or terminated) when `stop` asked for it.
TrialRun run_trial(const TrialPlan& plan, const SupervisorOptions& options);

}  // namespace memduel
