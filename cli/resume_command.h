// The command that goes on with a run, for messages of one that ended early.
#pragma once

#include <string>
#include <vector>

namespace memduel::cli {

/// @param words the command line that began the run, the program first; empty: it is not known.
/// Returns it with --out `directory` and --resume, and without --max-minutes.
std::string resume_command(const std::vector<std::string>& words, const std::string& directory);

}  // namespace memduel::cli
