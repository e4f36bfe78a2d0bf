// Numbers out of the texts of /proc/PID.
#pragma once

#include <cstdint>
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

}  // namespace memduel
