// Runs one trial: starts its processes under the launcher in the order of their dependencies,
// meters them, waits for their end, and leaves nothing behind. What this machine allows of that, as
// rows of `memduel doctor`.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "meters/meter_registry.h"
#include "trial/trial_plan.h"
#include "util/error.h"

namespace memduel {

/// memduel-launcher beside the running program. Throws Error(io) when it is not there.
std::filesystem::path find_launcher();

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

/// Why roles of a failed trial died of what was preloaded into them, by role: of a filter of system
/// calls (SIGSYS), or of a sanitizer's runtime that insists on being first. Empty for every other
/// trial.
std::map<std::string, std::string> harmed_by_recorder(const TrialPlan& plan, const TrialRun& run);

/// launcher, subreaper, cgroup (own group for every trial: made and removed once here) and
/// oom_counter, each tried.
std::vector<Capability> supervision_capabilities();

}  // namespace memduel
