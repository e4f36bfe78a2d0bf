// The differences of the arms' artifacts, computed after the last block.
#pragma once

#include <filesystem>
#include <vector>

#include "base/run_data.h"
#include "experiment/config/config.h"
#include "experiment/contract/trial_run.h"

namespace memduel {

struct ArtifactComparison {
  std::vector<ArtifactDifference> differences;  ///< of those with a `compare`, one per candidate
  std::vector<Note> warnings;
};

/// Asks each artifact's `compare` about what measure trials left and is not equal: of a file in
/// every block, and the baseline's own; of the final model a few of each arm. `logs` takes what the
/// commands print. One that fails or prints no number is a warning. So is what varies within an
/// arm, of files with what of its Python is not pinned.
ArtifactComparison compare_artifacts(const Experiment& experiment, const RunData& run,
                                     const std::filesystem::path& run_directory,
                                     const std::filesystem::path& logs, const RunTrial& run_trial);

}  // namespace memduel
