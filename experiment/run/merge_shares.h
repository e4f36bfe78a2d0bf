// The shares of one plan as the one run that they are.
#pragma once

#include <filesystem>
#include <vector>

#include "experiment/run/share.h"

namespace memduel {

/// Makes a run in `out` of the runs in `directories`: measured trials by block, the warm-ups and
/// profiles of the first share, and every share's logs, models and files. Trials are numbered anew.
/// Shares that are missing or were not finished are warnings, and so are machines that differ.
/// Throws Error(usage) naming the directory for what is no share, for the same share twice, for
/// another plan, seed or build, and where `out` holds a run; Error(io).
void merge_shares(const std::vector<std::filesystem::path>& directories,
                  const std::filesystem::path& out);

/// Whether every block of a share's is there. False where there is no run that could be read.
bool is_whole_share(const std::filesystem::path& directory);

}  // namespace memduel
