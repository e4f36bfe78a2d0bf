// Numbers out of the texts of /proc/PID, and the CPU time of the calling thread, by which meters
// ration those that cost much to read.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>

namespace memduel {

/// Resident pages of a statm text ("size resident shared …"); 0 for a process that is a zombie.
std::optional<std::int64_t> resident_pages(std::string_view statm);

/// Resident pages that no file and no shared memory is behind.
std::optional<std::int64_t> anonymous_pages(std::string_view statm);

struct FaultCounts {
  std::int64_t minor = 0;
  std::int64_t major = 0;
};

/// Page faults of a whole process from its stat text (fields 10 and 12).
std::optional<FaultCounts> fault_counts(std::string_view stat);

/// Whether a process, by its stat text, has executed no program since it was forked: its pages are
/// its parent's until it writes to them.
bool is_only_forked(std::string_view stat);

inline std::int64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace memduel
