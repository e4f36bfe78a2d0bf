// A batch script for Slurm: a run's shares as the tasks of a job array.
#pragma once

#include <filesystem>
#include <string>

#include "cli/run_options.h"
#include "experiment/config/config.h"

namespace memduel::cli {

inline constexpr const char* kNoFixedBlocks = "found no fixed number of blocks to divide";

/// How many shares a run has at most. Throws Error(usage) for a run without a fixed, even number of
/// blocks.
int most_shares(const Experiment& experiment);

/// One task for each share, which goes on where it was ended when it is requeued. `directory` gets
/// a directory for each share. Throws what most_shares throws, and Error(usage) for more shares.
std::string slurm_script(const std::string& config, const Experiment& experiment,
                         const RunOptions& options, int shares,
                         const std::filesystem::path& directory);

}  // namespace memduel::cli
