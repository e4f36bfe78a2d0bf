// Runs one trial: starts its processes under the launcher in the order of their dependencies,
// meters them, waits for their end, and leaves nothing behind.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "base/run_data.h"
#include "base/stop_request.h"
#include "experiment/contract/trial_plan.h"

namespace memduel {

struct SupervisorOptions {
  std::filesystem::path launcher;     ///< the program memduel-launcher
  const StopRequest* stop = nullptr;  ///< asks for an early end
  /// Outside meters rest in the reference role's even rounds: shows what metering costs.
  bool rest_in_even_rounds = false;
};

/// A trial and what has to be said about it; notes with the same code may come from every trial.
struct TrialRun {
  TrialData trial;
  std::vector<Note> limitations;
  std::vector<Note> warnings;
  std::optional<int> prepare_status = std::nullopt;  ///< of the prepare step that failed, if any
};

/// The warning that processes were left behind by roles that had ended, and were killed.
inline constexpr const char* kLeftOver = "processes_left_over";

/// run_trial, or a fake of it.
using RunTrial = std::function<TrialRun(const TrialPlan&)>;

/// memduel-launcher beside the running program. Throws Error(io) when it is not there.
std::filesystem::path find_launcher();

/// Runs `plan` to its end. A process that fails, never gets ready or passes the deadline is a trial
/// with status failed or killed_for_memory, not an exception; `harness_fault` says that the fault
/// was ours (the launcher was lost). In every case no process of the trial is left when this
/// returns. Throws Error(usage) for a plan that cannot be run (unknown role in `after`, a cycle, no
/// process that ends the trial, an unknown meter), Error(io) when a log file cannot be made, and
/// Error(interrupted or terminated) when `stop` asked for it.
TrialRun run_trial(const TrialPlan& plan, const SupervisorOptions& options);

}  // namespace memduel
