// What a process may use before something is killed for memory: the limit of its own control
// group where it has one, else the memory of the machine; and an alarm when its use crosses a
// threshold.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>

#include "memduel/memory.h"

namespace memduel {

/// The tightest limit of the control groups around `pid`, where one is tighter than the machine;
/// else the machine's memory. Absent when /proc tells neither.
/// @param pid absent: this process. @param root where proc/ and sys/ lie; other than "/" in tests.
std::optional<MemoryLimit> memory_limit_of(std::optional<pid_t> pid,
                                           const std::filesystem::path& root = "/");

/// What of the limit is used and not given back on demand: what the group is charged without its
/// page cache, or the machine's memory without what the kernel calls available.
std::optional<std::int64_t> used_bytes_of(const MemoryLimit& limit,
                                          const std::filesystem::path& root = "/");

/// Of the control group of this process (version 2 alone has such numbers), else of the machine.
/// Absent where the kernel does not count.
std::optional<MemoryStall> memory_stall(const std::filesystem::path& root = "/");

/// The numbers in the text of memory.pressure or /proc/pressure/memory; absent when it is no such
/// text.
std::optional<MemoryStall> parse_pressure(std::string_view text);

/// Shares of the limit, 0 to 1; a threshold counts when it is reached.
inline MemoryLevel level_of(double used_ratio, double warn_ratio, double critical_ratio) {
  return used_ratio >= critical_ratio ? MemoryLevel::critical
         : used_ratio >= warn_ratio   ? MemoryLevel::warning
                                      : MemoryLevel::normal;
}

/// Says once when memory use crosses a threshold.
class MemoryAlarm {
 public:
  /// Shares of the limit, 0 to 1.
  MemoryAlarm(double warn_ratio, double critical_ratio)
      : warn_ratio_(warn_ratio), critical_ratio_(critical_ratio) {}

  /// The level, when `used_ratio` is the first to reach it. It is forgotten again once the use is
  /// five hundredths below it, so that a use that swings around a threshold is said once.
  std::optional<MemoryLevel> reached(double used_ratio) {
    constexpr double kBelow = 0.05;
    if (level_ == MemoryLevel::critical && used_ratio < critical_ratio_ - kBelow)
      level_ = MemoryLevel::warning;
    if (level_ == MemoryLevel::warning && used_ratio < warn_ratio_ - kBelow)
      level_ = MemoryLevel::normal;
    const MemoryLevel now = level_of(used_ratio, warn_ratio_, critical_ratio_);
    if (now <= level_) return std::nullopt;
    level_ = now;
    return now;
  }

 private:
  double warn_ratio_;
  double critical_ratio_;
  MemoryLevel level_ = MemoryLevel::normal;
};

}  // namespace memduel
