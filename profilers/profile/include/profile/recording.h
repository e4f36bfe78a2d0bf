// How a program is made to record itself: the environment that preloads the recorder, and what
// keeps the recorder out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "profilers/availability.h"
#include "profilers/profile/capture/snapshot_rule.h"
#include "profilers/recorder/layout.h"

namespace memduel {

enum class RecordMode { count, sampled, exact };

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

}  // namespace memduel
