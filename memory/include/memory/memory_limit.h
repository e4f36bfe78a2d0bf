// Says once when memory use crosses a threshold.
#pragma once

#include <optional>

#include "memduel/memory.h"

namespace memduel {

/// Shares of the limit, 0 to 1; a threshold counts when it is reached.
inline MemoryLevel level_of(double used_ratio, double warn_ratio, double critical_ratio) {
  return used_ratio >= critical_ratio ? MemoryLevel::critical
         : used_ratio >= warn_ratio   ? MemoryLevel::warning
                                      : MemoryLevel::normal;
}

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
