// When a run may look at its data, and how much of the error rate each look may spend. The shares
// add up to the whole level (union bound), so the plan holds whatever the dependence between looks.
#pragma once

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

/// 6, 8, 12 and 16 blocks with .01, .01, .015 and .015.
LookPlan adaptive_looks();

struct CheckedLooks {
  LookPlan looks;
  std::vector<Note> limitations;  ///< one for each look that was refused
};

/// Refuses looks at which no test could reach its level: where the smallest p of that many blocks
/// exceeds alpha / gates. A refused look's alpha goes to the next one. The last look always stays;
/// when even it cannot decide, a limitation says so.
CheckedLooks check_looks(const LookPlan& plan, int gates, Design design);

/// The level to use with this many complete blocks: the look's own at a planned look; what was not
/// yet spent when the run ended in between for reasons outside the data (a time limit).
double alpha_at(const LookPlan& plan, int blocks);

}  // namespace memduel
