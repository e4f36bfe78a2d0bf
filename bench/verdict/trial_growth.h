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

/// Minutes from one round to the next, from the first round after warm-up to the last one. Nothing
/// where that leaves no time.
std::optional<double> minutes_per_round(const std::vector<RoundEnd>& rounds, int warmup_rounds);

/// Least squares through the resident set at the ends of rounds, or of windows of time, after
/// warm-up (growth_warmup); per minute at the pace of these rounds. Nothing where fewer than three
/// points are left.
GrowthSlopes growth_slopes(const std::vector<RoundEnd>& rounds, int warmup_rounds);

}  // namespace memduel
