// Which stacks make memory grow from round to round, where a profile trial has them.
#pragma once

#include <vector>

#include "analysis/values/results.h"
#include "base/live_at_round_ends.h"

namespace memduel {

/// Whether a row of growth per round reaches the margin, so that its stacks are worth naming.
bool asks_for_stacks(const Growth& row);

/// The stacks whose slope (Theil-Sen over the ends of rounds, after warm-up) is 1 % or more of
/// `bytes_per_round`, the growth that they are to explain; steepest first, five at most.
std::vector<GrowingStack> growing_stacks(const LiveAtRoundEnds& live, double bytes_per_round,
                                         int warmup_rounds);

}  // namespace memduel
