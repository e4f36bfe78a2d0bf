#include "analysis/watch_snapshot.h"

#include <algorithm>

#include "analysis/growth_slopes.h"
#include "analysis/metrics.h"
#include "analysis/time_windows.h"

namespace memduel {
namespace {

std::optional<double> steps_left(const WatchSnapshot& snapshot, std::optional<double> slope,
                                 const char* metric) {
  if (!snapshot.limit || !slope || *slope < metric_info(metric).absolute_margin)
    return std::nullopt;
  return std::max(0.0, snapshot.limit->bytes - snapshot.limit->used_bytes) / *slope;
}

}  // namespace

GrowthNow growth_now(const WatchSnapshot& snapshot) {
  const bool by_round = !snapshot.round_ends.empty();
  const GrowthSlopes slopes =
      growth_slopes(by_round ? snapshot.round_ends : time_windows(snapshot.rss), 0);
  GrowthNow now;
  if (by_round) now.bytes_per_round = slopes.per_round;
  now.bytes_per_minute = slopes.per_minute;
  now.rounds_left = steps_left(snapshot, now.bytes_per_round, "rss_growth_bytes_per_round");
  now.minutes_left = steps_left(snapshot, now.bytes_per_minute, "rss_growth_bytes_per_minute");
  return now;
}

}  // namespace memduel
