// Runs a command under the recorder: the verb `record`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profilers/profile/capture/preload.h"
#include "profilers/profile/capture/recorded_images.h"

namespace memduel {

inline constexpr const char* kNoCommand = "no command to record";

struct RecordOptions {
  std::vector<std::string> argv;
  Preload preload;
  /// The first image's file; later ones get a number before the extension, or a folder of their own
  /// (image_files.h). Absent: NAME.PID.mdp in the current directory. Existing profiles are
  /// replaced, and those of an earlier recording removed; to a device or a pipe goes the first
  /// alone.
  std::optional<std::filesystem::path> output;
  SymbolOptions symbols;
};

struct RecordResult {
  int status = 0;  ///< the command's exit status, or 128 + signal
  std::vector<RecordedImage> images;
  std::vector<std::string> notes;  ///< why there is no profile, what it lacks
};

/// Waits for the command; SIGINT, SIGTERM and SIGHUP are the command's to handle. Throws Error when
/// the command cannot be started or a file cannot be written.
RecordResult record_command(const RecordOptions& options);

}  // namespace memduel
