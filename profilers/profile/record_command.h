// Runs a command under the recorder: the verb `record`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profilers/profile/heap_counters.h"
#include "profilers/profile/symbolize.h"

namespace memduel {

enum class RecordMode { count, sampled, exact };

struct RecordOptions {
  std::vector<std::string> argv;
  RecordMode mode = RecordMode::sampled;
  std::uint64_t interval_bytes = 512 * 1024;  ///< mean, sampled mode
  std::uint64_t seed = 0;                     ///< 0: from the clock
  bool follow = true;                         ///< forked children and executed programs too
  /// The first image's file; later ones get a number before the extension. Absent: NAME.PID.mdp in
  /// the current directory. Existing files are replaced.
  std::optional<std::filesystem::path> output;
  SymbolOptions symbols;
  /// libmemduel_recorder.so; absent: lib/ beside the directory of the running program.
  std::optional<std::filesystem::path> library;
};

struct RecordedImage {
  std::optional<std::filesystem::path> file;  ///< absent in count mode
  HeapCounters counters;
};

struct RecordResult {
  int status = 0;  ///< the command's exit status, or 128 + signal
  std::vector<RecordedImage> images;
  std::vector<std::string> notes;  ///< why there is no profile, what it lacks
};

/// Waits for the command; SIGINT and SIGTERM are the command's to handle. Throws Error when the
/// command cannot be started or a file cannot be written.
RecordResult record_command(const RecordOptions& options);

/// The environment that makes a program record itself into `directory`, as NAME=VALUE.
std::vector<std::string> recorder_environment(const RecordOptions& options,
                                              const std::filesystem::path& directory);

/// Why the recorder cannot enter `program` (static, setuid, sanitized), in words; empty when it
/// can.
std::string obstacle_to_recording(const std::filesystem::path& program);

}  // namespace memduel
