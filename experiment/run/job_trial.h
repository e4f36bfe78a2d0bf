// A trial with all that surrounds it: its files are written, prepare runs, what it must leave is
// kept, cleanup runs.
#pragma once

#include <filesystem>

#include "experiment/contract/trial_run.h"
#include "experiment/plan/plan.h"

namespace memduel {

/// Runs `planned` in its trial directory, which is made anew. A command of prepare that fails, and
/// a file that was not left, fail the trial; a command of cleanup that fails is a warning. cleanup
/// runs in every case, also when `run_trial` throws. Files of trials that ended well are kept in
/// `run_directory`. Throws what `run_trial` throws, and Error(io) when a file cannot be written.
TrialRun run_whole_trial(const PlannedTrial& planned, const RunTrial& run_trial,
                         const std::filesystem::path& run_directory);

}  // namespace memduel
