// When a run may look at its data, and how much of the error rate each look may spend. The shares
// add up to the whole level (union bound), so the plan holds whatever the dependence between looks.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/shift_test.h"
#include "analysis/values/interval.h"
#include "base/run_data.h"

namespace memduel {

struct Look {
  int blocks = 0;
  double alpha = kAlpha;
};

using LookPlan = std::vector<Look>;  ///< ascending in blocks

/// One look with the whole level.
LookPlan fixed_looks(int blocks);

/// One candidate: 6, 10 and 16 blocks with .02, .015 and .015. More: 8 and 16 with .025 each.
LookPlan adaptive_looks(std::size_t candidates);
/// Those of earlier versions, whose order was not restricted: 6, 8, 12 and 16 blocks with .01, .01,
/// .015 and .015.
LookPlan earlier_looks();

/// The segments of a run's order, by which it is drawn: up to each look, or those of `repeats`
/// blocks; of a run in shares, each share's by themselves.
std::vector<int> planned_segments(std::optional<int> repeats, std::size_t candidates,
                                  int shares = 1);

struct CheckedLooks {
  LookPlan looks;
  std::vector<Note> limitations;  ///< one for each look that was refused
};

/// The smallest p that a test can reach after so many blocks.
using SmallestP = std::function<double(int)>;

/// Refuses looks at which no test could reach its level: where the smallest p of that many blocks,
/// corrected for `comparisons`, exceeds alpha. A refused look's alpha goes to the next one. The
/// last look always stays.
CheckedLooks check_looks(const LookPlan& plan, int comparisons, const SmallestP& smallest);

/// The level to use with this many complete blocks: the look's own at a planned look; what was not
/// yet spent when the run ended in between for reasons outside the data (a time limit).
double alpha_at(const LookPlan& plan, int blocks);

}  // namespace memduel
