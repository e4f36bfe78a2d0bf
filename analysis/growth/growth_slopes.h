// Growth inside one run: slopes without a verdict.
#pragma once

#include <optional>
#include <vector>

#include "analysis/growth/observations.h"

namespace memduel {

inline constexpr double kMinuteNs = 60e9;

struct GrowthSlopes {
  std::optional<double> per_round;       ///< bytes
  std::optional<double> per_minute;      ///< bytes
  std::optional<double> heap_per_round;  ///< bytes, where every round has them
};

/// Least squares through the resident set at the ends of rounds, or of windows of time, after
/// warm-up (growth_warmup). Nothing where fewer than three points are left.
GrowthSlopes growth_slopes(const std::vector<RoundEnd>& rounds, int warmup_rounds);

}  // namespace memduel
