#include "analysis/questions/watch_snapshot.h"

#include <algorithm>

#include "analysis/growth/growth.h"
#include "analysis/growth/growth_slopes.h"
#include "analysis/growth/time_windows.h"

namespace memduel {
namespace {

/// The rounds or windows that are left after warm-up.
GrowthSeries series_of(const std::vector<RoundEnd>& ends) {
  GrowthSeries series;
  for (std::size_t k = growth_warmup(ends.size(), 0); k < ends.size(); ++k) {
    series.x.push_back(ends[k].round);
    series.y.push_back(ends[k].rss_bytes);
  }
  return series;
}

/// Nothing beyond ten times what was seen: a slope is not known so far.
std::optional<double> steps_left(const WatchSnapshot& snapshot, std::optional<double> slope,
                                 double seen) {
  if (!snapshot.limit || !slope || *slope <= 0) return std::nullopt;
  const double left = std::max(0.0, snapshot.limit->bytes - snapshot.limit->used_bytes) / *slope;
  return left <= (kFarthest - 1) * seen ? std::optional(left) : std::nullopt;
}

}  // namespace

GrowthNow growth_now(const WatchSnapshot& snapshot) {
  const bool by_round = !snapshot.round_ends.empty();
  const std::vector<RoundEnd> ends = by_round ? snapshot.round_ends : time_windows(snapshot.rss);
  const GrowthSlopes slopes = growth_slopes(ends, 0);
  GrowthNow now;
  if (by_round) now.bytes_per_round = slopes.per_round;
  now.bytes_per_minute = slopes.per_minute;
  if (ends.empty()) return now;
  now.keeps_rising = keeps_rising(series_of(ends));
  if (!now.keeps_rising) return now;
  now.rounds_left = steps_left(snapshot, now.bytes_per_round, ends.back().round);
  now.minutes_left =
      steps_left(snapshot, now.bytes_per_minute,
                 static_cast<double>(ends.back().end_ns - ends.front().begin_ns) / kMinuteNs);
  return now;
}

}  // namespace memduel
