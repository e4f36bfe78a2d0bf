// The rule that turns a measured row into improved, regressed, unchanged or inconclusive.
//
// unchanged: the interval of confidence 1 - 2 alpha lies inside the margin (two one-sided tests:
// Schuirmann, J. Pharmacokin. Biopharm. 15, 1987). improved, regressed: the corrected p is at most
// alpha, and the estimate reaches the margin, or the noise floor where that is larger, on the side
// on which the interval lies; strong when the whole interval at the row's own level clears it and
// the mean moved too (mean_test.h), or no values of the arms overlap. Rows of growth follow the
// judgement of growth.h. Everything else is inconclusive, with the reason.
#pragma once

#include <string>

#include "analysis/verdicts/comparison.h"
#include "analysis/verdicts/doubts.h"

namespace memduel {

/// "cannot tell: 3 of 5 blocks".
std::string too_few_blocks(int blocks, int needed);

/// Trials of each arm that a row without a test needs: fewer where its values may still turn out
/// identical.
int trials_needed(const MeasuredRow& row);

/// Fills interval and decision, and tells the decision as the comparison's verdict, tier and
/// reason. comparison.p_adjusted must be set where the row has a test; `family` is the number of
/// rows it was adjusted for.
/// With doubts the row is inconclusive.
void decide(MeasuredRow& row, double alpha, int family, const Doubts& doubts = {});

}  // namespace memduel
