// What a run can show at best, known before its first trial: with too few blocks, or too many
// comparisons, no values at all decide anything.
#pragma once

#include "analysis/verdicts/analyse.h"

namespace memduel {

/// The smallest p that any values can reach in the order that was drawn for them.
struct ReachableP {
  double smallest_p = 1;  ///< of one comparison; of several candidates, the least favourable
  int tests = 1;          ///< comparisons that share the level: gates times candidates

  /// Whether a single comparison that changes is decided, after the correction.
  [[nodiscard]] bool can_decide(double alpha = kAlpha) const { return smallest_p * tests <= alpha; }
};

/// After so many of the blocks that are planned. Trials are not needed.
ReachableP reachable_p(const RunData& run, const AnalysisSettings& settings, int blocks);

/// The fewest blocks of a fixed design, at least five, in which the run's comparisons can decide
/// with the order that its seed draws for them; absent where 64 do not suffice.
std::optional<int> fewest_blocks_that_can_decide(const RunData& run,
                                                 const AnalysisSettings& settings);

}  // namespace memduel
