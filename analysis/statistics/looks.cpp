#include "analysis/statistics/looks.h"

#include <fmt/format.h>

#include <cstdint>

#include "analysis/statistics/trial_order.h"
#include "base/text.h"

namespace memduel {

LookPlan fixed_looks(int blocks) {
  return {{blocks, kAlpha}};
}

LookPlan adaptive_looks(std::size_t candidates) {
  if (candidates > 1) return {{8, 0.025}, {16, 0.025}};
  return {{6, 0.02}, {10, 0.015}, {16, 0.015}};
}

LookPlan earlier_looks() {
  return {{6, 0.01}, {8, 0.01}, {12, 0.015}, {16, 0.015}};
}

std::vector<int> planned_segments(std::optional<int> repeats, std::size_t candidates, int shares) {
  std::vector<int> segments;
  const auto add = [&](int blocks) {
    const std::vector<int> more = segments_of(blocks);
    segments.insert(segments.end(), more.begin(), more.end());
  };
  if (!repeats) {
    int done = 0;
    for (const Look& look : adaptive_looks(candidates)) {
      add(look.blocks - done);
      done = look.blocks;
    }
    return segments;
  }
  const std::int64_t superblocks = *repeats / 2;
  for (int share = 0; shares > 1 && share < shares; ++share)
    add(2 * static_cast<int>((share + 1) * superblocks / shares - share * superblocks / shares));
  if (shares <= 1) add(*repeats);
  return segments;
}

CheckedLooks check_looks(const LookPlan& plan, int comparisons, const SmallestP& smallest) {
  CheckedLooks checked;
  double carried = 0;
  for (size_t i = 0; i < plan.size(); ++i) {
    Look look = plan[i];
    look.alpha += carried;
    carried = 0;
    const double least = smallest(look.blocks);
    const bool last = i + 1 == plan.size();
    if (last || least * comparisons <= look.alpha) {
      checked.looks.push_back(look);
    } else {
      carried = look.alpha;
      checked.limitations.push_back(
          {"look_refused",
           fmt::format("no look at {} blocks: the smallest p there is {:.4f}, and {} share a level "
                       "of {:.4f}",
                       look.blocks, least, format_count(comparisons, "comparison"), look.alpha),
           "compare fewer candidates, or name fewer gates, to be able to stop earlier"});
    }
  }
  return checked;
}

double alpha_at(const LookPlan& plan, int blocks) {
  double total = 0;
  double spent = 0;
  for (const Look& look : plan) {
    if (look.blocks == blocks) return look.alpha;
    total += look.alpha;
    if (look.blocks < blocks) spent += look.alpha;
  }
  return spent < total ? total - spent : plan.back().alpha;
}

}  // namespace memduel
