// The exact Mann-Whitney test of two independent samples and the interval that inverts it
// (Mann and Whitney 1947; interval: Bauer, JASA 67, 1972). Used from 5 to 7 blocks, where the
// paired sign-flip test cannot reach the level, and for samples without blocks. Interleaved trials
// under a slow drift only make it conservative.
#pragma once

#include <span>
#include <vector>

#include "analysis/values/interval.h"

namespace memduel {

/// P(U <= u) for u = 0 … m*n under the null hypothesis, without ties.
std::vector<double> mann_whitney_cdf(int m, int n);

class MannWhitney {
 public:
  /// Both samples need at least one value; values may be infinite.
  MannWhitney(std::span<const double> a, std::span<const double> b);

  /// Two-sided p of "b is not shifted against a". Ties count towards the null hypothesis, so that
  /// p <= alpha exactly where interval(alpha) excludes 0.
  [[nodiscard]] double p_value() const;

  /// Interval of the shift b - a with confidence of at least 1 - alpha.
  [[nodiscard]] Interval interval(double alpha) const;

 private:
  std::vector<double> differences_;
  std::vector<double> cdf_;
};

}  // namespace memduel
