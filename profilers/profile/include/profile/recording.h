// How a program is recorded: the environment that preloads the recorder, what keeps the recorder
// out, when it takes a snapshot of resident memory, and the verb `record`, which runs a command in
// the foreground as a shell does. Availability says whether a meter or a tracer can be used here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profile/recorded_files.h"
#include "recorder/layout.h"

namespace memduel {

struct Availability {
  bool works = false;
  std::string why;       ///< why not, and what to do about it; empty when it works
  std::string how = {};  // NOLINT(readability-redundant-member-init): -Wextra; where ways differ
};

/// The name of the directories in which commands are recorded, beside what they leave.
inline constexpr const char* kRecordScratch = ".memduel-record";

/// As the shell finds it in PATH; empty when there is none.
std::filesystem::path find_program(const std::string& name);

/// Waits for the command, with `environment` added to ours; SIGINT, SIGTERM and SIGHUP are the
/// command's to handle. Returns its exit status, or 128 + signal. Throws Error when it cannot be
/// started.
int run_command(const std::vector<std::string>& argv,
                const std::map<std::string, std::string>& environment);

struct SnapshotRule {
  std::string text;                                   ///< as recorder::kSnapshotVariable has it
  std::optional<int> percent_of_peak = std::nullopt;  ///< of rss=P%
};

/// A snapshot that holds at least so much of the peak that the run turns out to have. A peak below
/// `from_bytes` was not expected, and is held by 3/4; 0 where nothing is known of it.
SnapshotRule snapshot_at_peak(int percent, double from_bytes = 0);

/// From `rss=P%`, `rss=BYTES`, `mark=ROUND`, `mark=ROUND/PHASE` or `signal`. `peak_bytes` is the
/// peak of an earlier run, or 0. Throws Error(usage) naming what was found and expected.
SnapshotRule snapshot_rule_from(const std::string& word, double peak_bytes = 0);

using RecordMode = recorder::Mode;

struct Preload {
  RecordMode mode = RecordMode::sampled;
  std::uint64_t interval_bytes = recorder::kIntervalBytes;  ///< between samples, sampled mode
  std::uint64_t first_interval_bytes = 4096;     ///< at the begin, doubling up to it; 0: always it
  std::uint64_t seed = 0;                        ///< 0: from the clock
  std::optional<SnapshotRule> snapshot;          ///< sampled or exact mode
  bool follow = true;                            ///< forked children and executed programs too
  std::optional<std::filesystem::path> library;  ///< absent: recorder_library()
};

/// libmemduel_recorder.so in lib/ beside the directory of the running program.
std::filesystem::path recorder_library();

/// Whether its library is there.
Availability recorder_works();

/// What makes a program record itself into `directory`, which must exist when it starts.
/// `other_preloads` is the value that LD_PRELOAD would have. Throws Error(io) without the library.
std::map<std::string, std::string> recording_environment(const Preload& preload,
                                                         const std::filesystem::path& directory,
                                                         const std::string& other_preloads);

/// What root starts may become other users', as below su and gosu: they may add records to
/// `directory` too, and neither list it nor replace what is there. For root alone.
void admit_other_users(const std::filesystem::path& directory);

/// Why the recorder cannot enter `program` (static, setuid, sanitized), in words; empty when it
/// can.
std::string obstacle_to_recording(const std::filesystem::path& program);

/// Of a program of Go's, which has its heap in mappings of its own that it makes without the C
/// library.
inline constexpr const char* kStaticGo =
    "it is statically linked, a Go program: nothing can be preloaded";
/// What shows the content of that heap.
std::string to_see_go_heap();

inline constexpr const char* kNoCommand = "no command to record";

struct RecordOptions {
  std::vector<std::string> argv;
  Preload preload;
  /// The first image's file; later ones get a number before the extension, or a folder of their own
  /// (ImageFiles). Absent: NAME.PID.mdp in the current directory. Existing profiles are
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

/// JSON, schema "memduel.counts/1": `command`, `status`, and of each process image its program,
/// pid, whether it ended by itself, its counters, and within how many bytes peak and live bytes are
/// exact.
std::string counts_json(const std::vector<std::string>& command, int status,
                        const std::vector<RecordedImage>& images);

}  // namespace memduel
