// A batch script for Slurm: a run's shares as the tasks of a job array.
#pragma once

#include <string>

#include "cli/run_options.h"
#include "experiment/config/config.h"

namespace memduel::cli {

/// One task for each share, which goes on where it was ended when it is requeued. Throws
/// Error(usage) for a run without a fixed number of blocks, and for more shares than superblocks.
std::string slurm_script(const std::string& config, const Experiment& experiment,
                         const RunOptions& options, int shares);

}  // namespace memduel::cli
