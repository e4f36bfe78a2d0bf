// Whether the mean moved as the ranks did: ranks see the typical trial, memory runs out in the mean
// and the tail.
#pragma once

#include "analysis/values/placed_values.h"

namespace memduel {

/// Two-sided p of "the means are equal", by the swaps of labels of the rank test with a studentised
/// statistic, so that unequal spreads do not count as unequal means (Janssen, Stat. Probab. Lett.
/// 36, 1997; Chung and Romano, Ann. Stat. 41, 2013). The statistic is Welch's t, or Hall's
/// skewness-corrected t (JRSS B 54, 1992) where that is smaller. Where the arm with the smaller
/// mean is also the more spread one, which a few missing large values would look like, p counts
/// fivefold; not so from Welch's t of 18 on, which they do not make. All swaps up to 10,000, of
/// more 9,999 random ones with a fixed seed. Simulated rates: bench/statistics/results.md, "Equal
/// means, unequal shapes".
double mean_p(const PlacedValues& values);

/// Two-sided p of "both arms spread alike": the rank test on distances from the own median.
double spread_p(const PlacedValues& values);

}  // namespace memduel
