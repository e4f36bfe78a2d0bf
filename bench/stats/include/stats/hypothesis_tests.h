// Tests of a shift, of means and of spreads of two variants, and p-values adjusted for families of
// tests. ShiftTest chooses the test of a shift by the design and the number of blocks: declared
// here, before any data is seen.
//
// MannWhitney: the exact Mann-Whitney test of two independent samples and the interval that inverts
// it (Mann and Whitney 1947; interval: Bauer, JASA 67, 1972). Used from 5 to 7 blocks, where the
// paired sign-flip test cannot reach the level, and for samples without blocks. Interleaved trials
// under a slow drift only make it conservative.
//
// SignFlip: the exact paired test, sign flips of the within-block differences of pooled mid-ranks,
// and the interval that inverts it. Assumption: within a block the arms ran in random order, so
// that without an effect every exchange of a block's two values was equally likely; nothing is
// assumed about the noise, and drift across blocks does no harm. For a trial shift delta the values
// {a_i, b_i - delta} of all blocks are ranked together (mid-ranks for ties), d_i is the rank
// difference in block i, T their sum, and the null distribution of T is that of all 2^n sign
// patterns of the d_i (a permutation test on rank scores; Pitman 1937, Hollander, Wolfe and Chicken
// 2014, chapter 3). Over 2,000 simulated duels with 8 and 12 blocks the 95% interval covered the
// truth in at least 94% for every noise shape of docs/method.md.
//
// SwapTest: the exact test of memduel's design: the labels of the two arms are exchanged on their
// own places, in every way that could have been drawn (trial_order.h). For a trial shift delta the
// candidate's values are lowered by it, the effect of the places is taken out where the label-blind
// rule of samples.h says so, all values are ranked together (mid-ranks for ties), and T is the sum
// of the candidate's ranks. Its null distribution is that of all swaps: enumerated within each
// segment, the segments convolved, beyond 24 blocks by the normal limit (a stratified permutation
// test on rank scores; Hollander, Wolfe and Chicken 2014, chapters 4 and 7). Nothing is assumed
// about the noise; drift, a first trial and what a place does to a trial cost power, not validity.
//
// mean_p: whether the mean moved as the ranks did: ranks see the typical trial, memory runs out in
// the mean and the tail.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "stats/samples.h"
#include "util/reflection.h"

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

constexpr int kMinimumBlocks = 5;  ///< below: no verdict
constexpr int kPairedBlocks = 8;   ///< from here on: the paired sign-flip test

/// How the order of trials came about: restricted (trial_order.h), each superblock or each block
/// by itself, as in runs of earlier versions, or not at all.
enum class Design { restricted, superblocks, paired, unpaired };
template <>
inline constexpr NameTable<Design, 4> kNameTable<Design> = {{{Design::restricted, "restricted"},
                                                             {Design::superblocks, "superblocks"},
                                                             {Design::paired, "blocks"},
                                                             {Design::unpaired, "none"}}};

/// Whether labels are swapped on their places.
constexpr bool has_places(Design design) {
  return design == Design::restricted || design == Design::superblocks;
}

inline constexpr const char* kSuperblocks = "superblocks";
inline constexpr const char* kSignFlips = "sign flips";
inline constexpr const char* kMannWhitney = "Mann-Whitney";

/// The test of b against a and its interval; p and interval never disagree.
class ShiftTest {
 public:
  /// Paired: `a[i]` and `b[i]` come from the same block. From kPairedBlocks paired values on the
  /// exact sign-flip test, else the exact Mann-Whitney test.
  ShiftTest(std::span<const double> a, std::span<const double> b, Design design);

  explicit ShiftTest(PlacedValues values);

  [[nodiscard]] double p_value() const;
  [[nodiscard]] Interval interval(double alpha) const;

  /// "superblocks", "sign flips" or "Mann-Whitney".
  [[nodiscard]] const char* name() const;

  /// Null where labels are not swapped on their places.
  [[nodiscard]] const SwapTest* swaps() const { return std::get_if<SwapTest>(&test_); }

 private:
  std::variant<SignFlip, MannWhitney, SwapTest> test_;
};

/// Smallest p that the test of two arms can reach with n blocks. More arms of a restricted order
/// have fewer swaps: reachable_p() of verdict/analyse.h.
double smallest_p(int blocks, Design design);

/// Two-sided p of "the means are equal", by the swaps of labels of the rank test with a studentised
/// statistic, so that unequal spreads do not count as unequal means (Janssen, Stat. Probab. Lett.
/// 36, 1997; Chung and Romano, Ann. Stat. 41, 2013). The statistic is Welch's t, or Hall's
/// skewness-corrected t (JRSS B 54, 1992) where that is smaller. Where the arm with the smaller
/// mean is also the more spread one, which a few missing large values would look like, p counts
/// fivefold; not so from Welch's t of 18 on, which they do not make. All swaps up to 10,000, of
/// more 9,999 random ones with a fixed seed. Simulated rates:
/// research/statistics/results.md, "Equal means, unequal shapes".
double mean_p(const PlacedValues& values);

/// Two-sided p of "both arms spread alike": the rank test on distances from the own median.
double spread_p(const PlacedValues& values);

/// Holm's step-down (Scand. J. Statist. 6, 1979): the chance of one false rejection or more stays
/// within the level, whatever the dependence. For gate rows.
std::vector<double> holm(std::span<const double> p);

/// One test of several that share their trials.
struct SwappedTest {
  std::vector<int> ranks;  ///< doubled mid-ranks of all values, as swapped_rank_p() takes them
  double p = 1;            ///< of the test alone
};

/// Westfall and Young's step-down of the smallest p (Resampling-Based Multiple Testing, 1993; Ge,
/// Dudoit and Speed, Test 12, 2003): the chance of one false rejection or more stays within the
/// level, and tests that move together cost less than by Holm. The same swaps of labels for all
/// tests: every one of up to 10,000, of more 9,999 random ones beside the one that was made. For
/// the gate rows of one candidate.
std::vector<double> westfall_young(const PlacedValues& values, std::span<const SwappedTest> tests);

/// Benjamini and Hochberg's step-up (J. R. Statist. Soc. B 57, 1995): the expected share of false
/// rejections. For advisory rows.
std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace memduel
