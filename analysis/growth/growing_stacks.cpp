#include "analysis/growth/growing_stacks.h"

#include <algorithm>
#include <span>

#include "analysis/growth/observations.h"
#include "analysis/statistics/theil_sen.h"
#include "base/metric_catalogue.h"

namespace memduel {

bool asks_for_stacks(const Growth& row) {
  return row.metric == kRssGrowthPerRound && row.slope &&
         (row.verdict == GrowthVerdict::growing ||
          *row.slope >= metric_info(kRssGrowthPerRound).absolute_margin);
}

std::vector<GrowingStack> growing_stacks(const LiveAtRoundEnds& live, double bytes_per_round,
                                         int warmup_rounds) {
  constexpr double kLeastShare = 0.01;
  constexpr std::size_t kMostStacks = 5;
  if (!has_slope(live.rounds.size(), warmup_rounds)) return {};
  const std::size_t first = growth_warmup(live.rounds.size(), warmup_rounds);
  const std::vector<double> rounds(live.rounds.begin() + static_cast<std::ptrdiff_t>(first),
                                   live.rounds.end());
  std::vector<GrowingStack> growing;
  for (const LiveStack& stack : live.stacks) {
    const auto slope = theil_sen_slope(rounds, std::span(stack.bytes).subspan(first));
    if (!slope || *slope <= 0 || *slope < kLeastShare * bytes_per_round) continue;
    growing.push_back({stack.stack, stack.phase, *slope, stack.bytes.back()});
  }
  std::ranges::stable_sort(
      growing, [](const auto& a, const auto& b) { return a.bytes_per_round > b.bytes_per_round; });
  if (growing.size() > kMostStacks) growing.resize(kMostStacks);
  return growing;
}

}  // namespace memduel
