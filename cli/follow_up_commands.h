// The command that goes on with a run, for messages of one that ended early.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace memduel::cli {

/// @param words the command line that began the run, the program first.
/// Returns it with --out `directory` and --resume, and with --max-minutes `minutes` or without it.
std::string resume_command(const std::vector<std::string>& words, const std::string& directory,
                           std::optional<double> minutes = std::nullopt);

}  // namespace memduel::cli
