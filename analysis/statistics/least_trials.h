// How many trials it takes before any verdict is possible.
#pragma once

#include "analysis/statistics/shift_test.h"
#include "analysis/values/interval.h"

namespace memduel {

/// The least number of trials of each variant with which the test of one of `comparisons` that
/// share `level` can reach its part of it, whatever the values are. A comparison is a gate of a
/// candidate.
int least_trials(int comparisons, Design design, double level = kAlpha);

}  // namespace memduel
