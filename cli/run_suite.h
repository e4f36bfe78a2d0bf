// memduel run SUITE: several experiments, one after the other, and an index of them.
#pragma once

#include <filesystem>

#include "run_options.h"

namespace memduel::cli {

/// Every config is read before the first trial, and one trial of each tells what all are expected
/// to take. An experiment that cannot be measured is named in the index, and the next one runs.
/// Returns what went worst: an experiment's own failure, else a failed gate, else an undecided one
/// where that counts. Throws Error(usage) for a bad suite or config, Error(interrupted or
/// terminated) on a signal, with the index of what was done.
int run_suite(const std::filesystem::path& file, const RunOptions& options);

}  // namespace memduel::cli
