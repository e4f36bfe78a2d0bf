// The exact test of memduel's design: the labels of the two arms are exchanged on their own places,
// in every way that could have been drawn (label_swaps.h).
//
// For a trial shift delta the candidate's values are lowered by it, the effect of the places is
// taken out where the label-blind rule of placed_values.h says so, all values are ranked together
// (mid-ranks for ties), and T is the sum of the candidate's ranks. Its null distribution is that of
// all swaps: enumerated within each segment, the segments convolved, beyond 24 blocks by the normal
// limit (a stratified permutation test on rank scores; Hollander, Wolfe and Chicken 2014, chapters
// 4 and 7). Nothing is assumed about the noise; drift, a first trial and what a place does to a
// trial cost power, not validity.
#pragma once

#include <span>
#include <vector>

#include "analysis/values/interval.h"
#include "analysis/values/placed_values.h"

namespace memduel {

/// P(|T - E T| >= |t - E T|), T the sum of the doubled mid-ranks that are dealt to the candidate.
/// @param ranks of all values, by index.
double swapped_rank_p(std::span<const LabelSwaps> swaps, std::span<const int> ranks, int t);

class SwapTest {
 public:
  /// At least one value of either arm; the candidate's may be infinite.
  explicit SwapTest(PlacedValues values);

  /// Smallest level at which interval(alpha) excludes 0.
  [[nodiscard]] double p_value() const;

  /// Hull of all shifts with p > alpha.
  [[nodiscard]] Interval interval(double alpha) const;

  /// The median of all differences between a candidate's and a baseline's value (Hodges and Lehmann
  /// 1963), of the values as they are.
  [[nodiscard]] double estimate() const { return estimate_; }
  /// The same without the effect of the places.
  [[nodiscard]] double estimate_without_places() const { return cleaned_.median; }
  [[nodiscard]] const PlaceRule& places() const { return places_; }

  [[nodiscard]] const PlacedValues& values() const { return values_; }
  /// Doubled mid-ranks at a shift, by index.
  [[nodiscard]] std::vector<int> ranks_at(double delta) const;

 private:
  /// The values as they are, or without the effect of the places.
  struct Level {
    std::vector<double> level;   ///< at shift 0
    std::vector<double> slope;   ///< by which it falls per unit of shift
    std::vector<double> breaks;  ///< where a candidate's value and a baseline's are level:
                                 ///< candidate by baseline
    double median = 0;           ///< of breaks
    double grid = 0;             ///< shifts nearer to each other than this are equal
  };

  [[nodiscard]] Level leveled(const PlaceEffect& effect) const;
  [[nodiscard]] static double on_grid(const Level& level, double shift);
  /// Where the effect of the places, a line over the shift, exchanges two values of one arm.
  void add_breaks_within_arms();
  [[nodiscard]] const Level& level_at(double delta) const;
  // Piece 2k is the open stretch of shifts below break k, piece 2k + 1 the break itself, the last
  // piece the stretch above all breaks. T is constant within a piece.
  [[nodiscard]] std::size_t piece_of(double delta) const;
  [[nodiscard]] double shift_in(std::size_t piece) const;
  [[nodiscard]] double p_of(std::size_t piece) const;
  [[nodiscard]] std::size_t pieces() const { return 2 * breaks_.size() + 1; }
  /// The piece of the largest p among these.
  [[nodiscard]] std::size_t likeliest(std::size_t first, std::size_t last) const;

  PlacedValues values_;
  PlaceRule places_;
  std::vector<std::size_t> baseline_;
  std::vector<std::size_t> candidate_;
  Level raw_;
  Level cleaned_;
  std::vector<double> breaks_;  ///< distinct and finite, ascending
  double estimate_ = 0;
  mutable std::vector<double> p_;  ///< of the pieces, below 0 where not yet asked for
};

}  // namespace memduel
