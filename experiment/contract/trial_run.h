// What running a trial gives.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/run_data.h"
#include "experiment/contract/trial_plan.h"

namespace memduel {

/// A trial and what has to be said about it; notes with the same code may come from every trial.
struct TrialRun {
  TrialData trial;
  std::vector<Note> limitations;
  std::vector<Note> warnings;
  std::optional<int> prepare_status = std::nullopt;  ///< of the prepare step that failed, if any
};

/// The warning that processes were left behind by roles that had ended, and were killed.
inline constexpr const char* kLeftOver = "processes_left_over";

/// The warning that a trial was to be stopped after a round, and no role marked one.
inline constexpr const char* kNoRoundToStopAfter = "no_round_to_stop_after";

/// run_trial, or a fake of it.
using RunTrial = std::function<TrialRun(const TrialPlan&)>;

}  // namespace memduel
