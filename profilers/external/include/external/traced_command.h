// Runs a command under a tracer of another tool: `record --profiler`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "external/tracers.h"

namespace memduel {

struct TracedCommand {
  std::vector<std::string> argv;
  TracerOptions options;
  /// The first image's file; others get what tells them apart before the extension. Absent:
  /// NAME.PID.EXTENSION in the current directory. Existing files are replaced.
  std::optional<std::filesystem::path> output;
};

struct TracedResult {
  int status = 0;  ///< the command's exit status, or 128 + signal
  std::vector<std::filesystem::path> files;
  std::vector<std::string> notes;  ///< why there is no file, what it lacks
};

/// Throws Error when the tracer is not here, the command cannot be started or a file cannot be
/// written.
TracedResult trace_command(const TracerEntry& entry, const TracedCommand& command);

}  // namespace memduel
