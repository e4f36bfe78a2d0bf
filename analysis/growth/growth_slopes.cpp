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

GrowthSlopes growth_slopes(const std::vector<RoundEnd>& rounds, int warmup_rounds) {
  std::vector<double> round;
  std::vector<double> minute;
  std::vector<double> rss;
  std::vector<double> heap;
  if (!has_slope(rounds.size(), warmup_rounds)) return {};
  for (size_t k = growth_warmup(rounds.size(), warmup_rounds); k < rounds.size(); ++k) {
    round.push_back(rounds[k].round);
    minute.push_back(static_cast<double>(rounds[k].end_ns) / kMinuteNs);
    rss.push_back(rounds[k].rss_bytes);
    if (rounds[k].heap_bytes) heap.push_back(*rounds[k].heap_bytes);
  }
  GrowthSlopes slopes{slope_of(round, rss), slope_of(minute, rss), std::nullopt};
  if (heap.size() == round.size()) slopes.heap_per_round = slope_of(round, heap);
  return slopes;
}

}  // namespace memduel
