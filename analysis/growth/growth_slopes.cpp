#include "analysis/growth/growth_slopes.h"

#include <span>

#include "analysis/growth/growth_shapes.h"

namespace memduel {
namespace {

/// Nothing where x stands still.
std::optional<double> slope_of(std::span<const double> x, std::span<const double> y) {
  return x.front() < x.back() ? std::optional(line_slope(x, y)) : std::nullopt;
}

}  // namespace

std::optional<double> minutes_per_round(const std::vector<RoundEnd>& rounds, int warmup_rounds) {
  const RoundEnd& first = rounds.at(growth_warmup(rounds.size(), warmup_rounds));
  const RoundEnd& last = rounds.back();
  const double minutes = static_cast<double>(last.end_ns - first.end_ns) / kMinuteNs;
  const double steps = last.round - first.round;
  return minutes > 0 && steps > 0 ? std::optional(minutes / steps) : std::nullopt;
}

GrowthSlopes growth_slopes(const std::vector<RoundEnd>& rounds, int warmup_rounds) {
  std::vector<double> round;
  std::vector<double> rss;
  std::vector<double> heap;
  if (!has_slope(rounds.size(), warmup_rounds)) return {};
  for (size_t k = growth_warmup(rounds.size(), warmup_rounds); k < rounds.size(); ++k) {
    round.push_back(rounds[k].round);
    rss.push_back(rounds[k].rss_bytes);
    if (rounds[k].heap_bytes) heap.push_back(*rounds[k].heap_bytes);
  }
  GrowthSlopes slopes{slope_of(round, rss), std::nullopt, std::nullopt};
  const std::optional<double> minutes = minutes_per_round(rounds, warmup_rounds);
  if (slopes.per_round && minutes) slopes.per_minute = *slopes.per_round / *minutes;
  if (heap.size() == round.size()) slopes.heap_per_round = slope_of(round, heap);
  return slopes;
}

}  // namespace memduel
