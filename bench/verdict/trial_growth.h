// Growth inside one run: its life in equal windows of time, where it marks no rounds, and its
// slopes, without a verdict.
#pragma once

#include <optional>
#include <vector>

#include "model/run_data.h"
#include "verdict/comparison.h"

namespace memduel {

/// Sixty windows of equal length over a sampled resident set, each with the smallest value in it:
/// what a transient peak adds is no growth. Samples become rare where nothing moves, so a value
/// holds until the next one. Empty for a life under ten seconds: all of that is warm-up.
std::vector<RoundEnd> time_windows(const Series& rss);

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
