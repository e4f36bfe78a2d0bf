// What a gate says about one candidate.
//
// A bound relative to the baseline passes when the one-sided confidence limit of the change stays
// within it. It fails in two ways: the worsening is shown to be beyond the bound (the limit on the
// other side is), or it is real (corrected p at most alpha) and estimated beyond the bound; strict
// gates fail in the first way alone. A ceiling fails with the first trial above it. Anything else
// is undecided. A candidate that failed where the baseline lived fails its gates. Of several bounds
// one is enough. A bound on growth passes for a candidate whose memory is bounded and fails only
// for one that grows: to shrink less than the baseline is no growth.
#pragma once

#include <vector>

#include "analysis/growth/growth.h"
#include "analysis/values/results.h"
#include "analysis/verdicts/comparison.h"
#include "analysis/verdicts/gate_grammar.h"

namespace memduel {

/// `row` decided (verdict.h) at level `alpha`; `growth` is the candidate's own row where the metric
/// is a growth metric, else null.
GateResult evaluate_gate(const Gate& gate, const MeasuredRow& row, const Growth* growth,
                         double alpha, bool strict = false);

}  // namespace memduel
