// After the last block: how far the files that the arms left are apart.
#pragma once

#include <filesystem>
#include <vector>

#include "base/run_data.h"
#include "experiment/config/config.h"
#include "experiment/contract/trial_run.h"

namespace memduel {

struct FileComparison {
  std::vector<FileDifference> differences;  ///< of files with a `compare`, one per candidate
  std::vector<Note> warnings;
};

/// Asks each file's `compare` about every block in which the arms' files of measure trials are not
/// equal, and about the baseline's own where they are not; `logs` takes what the commands print.
/// One that fails or prints no number is a warning. So are files that vary within an arm, with what
/// of its Python is not pinned.
FileComparison compare_files(const Experiment& experiment, const RunData& run,
                             const std::filesystem::path& run_directory,
                             const std::filesystem::path& logs, const RunTrial& run_trial);

}  // namespace memduel
