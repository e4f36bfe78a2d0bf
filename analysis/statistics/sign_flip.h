// The exact paired test of memduel: sign flips of the within-block differences of pooled mid-ranks,
// and the interval that inverts it.
//
// Assumption: within a block the arms ran in random order, so that without an effect every exchange
// of a block's two values was equally likely; nothing is assumed about the noise, and drift across
// blocks does no harm. For a trial shift delta the values {a_i, b_i - delta} of all blocks are
// ranked together (mid-ranks for ties), d_i is the rank difference in block i, T their sum, and the
// null distribution of T is that of all 2^n sign patterns of the d_i (a permutation test on rank
// scores; Pitman 1937, Hollander, Wolfe and Chicken 2014, chapter 3). Over 2,000 simulated duels
// with 8 and 12 blocks the 95 % interval covered the truth in at least 94 % for every noise shape
// of docs/method.md.
#pragma once

#include <span>
#include <vector>

#include "analysis/values/interval.h"

namespace memduel {

/// P(|S| >= |t|) for S = sum of +-d_i over all sign patterns. Exact up to 40 non-zero terms, beyond
/// that from the normal limit.
double sign_flip_p(std::span<const int> d, int t);

class SignFlip {
 public:
  /// `a[i]` and `b[i]` come from the same block; the same number of each, at least one. `b` may
  /// hold infinities.
  SignFlip(std::span<const double> a, std::span<const double> b);

  /// Smallest level at which interval(alpha) excludes 0. It is never below the p of the plain test,
  /// and the two differ only where the plain p is not monotone in the shift.
  [[nodiscard]] double p_value() const { return p_value_at(0); }

  /// The same for the hypothesis that b is a shifted by `delta`.
  [[nodiscard]] double p_value_at(double delta) const;

  /// Hull of all shifts with p > alpha.
  [[nodiscard]] Interval interval(double alpha) const;

 private:
  // p is constant between neighbouring pairwise differences. Piece 2k is the open stretch below
  // break k, piece 2k+1 the break itself, the last piece the stretch above all breaks.
  std::vector<double> breaks_;
  std::vector<double> p_;
  std::vector<double> best_up_to_;  ///< maximum of p_ over pieces 0 … k
  std::vector<double> best_from_;   ///< maximum of p_ over pieces k … last
};

}  // namespace memduel
