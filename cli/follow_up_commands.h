// The commands that messages advise after a run: one resumes it, one merges its shares.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/shares.h"

namespace memduel::cli {

/// @param words the command line that began the run, the program first.
/// Returns it with --out `directory` and --resume, and with --max-minutes `minutes` or without it.
std::string resume_command(const std::vector<std::string>& words, const std::string& directory,
                           std::optional<double> minutes = std::nullopt);

/// The command that merges all shares, where the name of this one's directory tells those of the
/// others: shard-2 of three has shard-1 and shard-3 beside it. Else which verb does it.
std::string advice_to_merge(const Share& share, const std::filesystem::path& directory);

}  // namespace memduel::cli
