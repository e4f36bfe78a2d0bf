// The exact Wilcoxon signed-rank interval for the centre of one sample (Wilcoxon 1945; interval:
// Hollander, Wolfe and Chicken 2014, section 3.4). Assumes independent values symmetric about the
// centre.
#pragma once

#include <span>
#include <vector>

#include "analysis/values/interval.h"

namespace memduel {

constexpr int kSignedRankMinimum = 6;  ///< below, no 95 % interval exists

/// P(W <= w) for w = 0 … n(n+1)/2 under the null hypothesis, without ties.
std::vector<double> signed_rank_cdf(int n);

/// Interval of the centre with confidence of at least 1 - alpha; unbounded when n is too small.
Interval signed_rank_interval(std::span<const double> x, double alpha);

/// Two-sided p of "the centre is 0"; <= alpha exactly where the interval excludes 0.
double signed_rank_p(std::span<const double> x);

}  // namespace memduel
