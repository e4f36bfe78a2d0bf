// The exact test of memduel's design: within every superblock the order of the arms was drawn, so
// that without an effect every way to deal its labels to its trials was equally likely.
//
// For a trial shift delta the candidate's values are lowered by it, the mean of second minus first
// neighbour is taken out, all values are ranked together (mid-ranks for ties), and T is the sum of
// the candidate's ranks. Its null distribution is that of all ways to deal the labels: six for two
// blocks of two arms, two for a single block, three where one trial of four is lost. It is
// enumerated by dynamic programming up to 40 blocks, beyond that by the normal limit (a stratified
// permutation test on rank scores; Hollander, Wolfe and Chicken 2014, chapters 4 and 7). Nothing is
// assumed about the noise; drift, a first trial and what a place does to a trial cost power, not
// validity.
#pragma once

#include <span>
#include <vector>

#include "analysis/values/interval.h"
#include "analysis/values/placed_values.h"

namespace memduel {

/// One superblock's part of the null distribution: how many labels there are to deal to its ranks.
struct DealtRanks {
  std::vector<int> ranks;  ///< doubled mid-ranks, so that they are whole numbers
  int candidates = 0;
};

/// P(|T - E T| >= |t - E T|), T the sum of the ranks that are dealt to the candidate.
double dealt_rank_p(std::span<const DealtRanks> superblocks, int t);

class SuperblockTest {
 public:
  /// At least one value of either arm; the candidate's may be infinite.
  explicit SuperblockTest(std::vector<PlacedValue> values);

  /// Smallest level at which interval(alpha) excludes 0.
  [[nodiscard]] double p_value() const;

  /// Hull of all shifts with p > alpha.
  [[nodiscard]] Interval interval(double alpha) const;

  /// The shift at which T is what chance would make it: the median of all differences between a
  /// candidate's and a baseline's value, the position effect taken out (Hodges and Lehmann 1963).
  [[nodiscard]] double estimate() const { return estimate_; }

 private:
  // Piece 2k is the open stretch of shifts below break k, piece 2k + 1 the break itself, the last
  // piece the stretch above all breaks. T is constant within a piece.
  [[nodiscard]] std::size_t piece_of(double delta) const;
  [[nodiscard]] double shift_in(std::size_t piece) const;
  [[nodiscard]] double p_of(std::size_t piece) const;
  [[nodiscard]] double p_at(double delta) const;
  [[nodiscard]] std::size_t pieces() const { return 2 * breaks_.size() + 1; }
  /// The outermost piece with p > alpha on one side of the estimate; `step` is 1 or -1.
  [[nodiscard]] std::size_t last_above(double alpha, int step) const;

  std::vector<PlacedValue> values_;
  std::vector<std::vector<std::size_t>> superblocks_;
  std::vector<std::size_t> baseline_;
  std::vector<std::size_t> candidate_;
  std::vector<double> level_;   ///< value at shift 0, position effect taken out
  std::vector<double> slope_;   ///< by which it falls per unit of shift
  std::vector<double> matrix_;  ///< breaks: candidate by baseline
  std::vector<double> breaks_;  ///< distinct and finite, ascending
  std::vector<int>
      within_;  ///< doubled rank within the own arm, while it does not depend on the shift
  bool fixed_within_ = true;
  double estimate_ = 0;
  double grid_ = 0;                ///< shifts nearer to each other than this are equal
  mutable std::vector<double> p_;  ///< of the pieces, below 0 where not yet asked for
};

}  // namespace memduel
