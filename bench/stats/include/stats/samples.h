// What statistical tests take and give: values with their places in the order of the trials, closed
// intervals, and a generator that gives the same random numbers with every standard library.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

namespace memduel {

/// The level of an interval or a test before any correction for several of them.
inline constexpr double kAlpha = 0.05;

/// A closed interval; an end may be infinite when the data cannot bound it.
struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  [[nodiscard]] bool contains(double x) const { return low <= x && x <= high; }
};

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// Uniform over 0 … n - 1, n > 0; values that would favour small numbers are drawn again.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t unfair = (0 - n) % n;
    std::uint64_t x = next();
    while (x < unfair) x = next();
    return x % n;
  }

  bool coin() { return (next() >> 63) != 0; }

  /// Uniform over [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// Standard normal (Box and Muller).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

/// One trial of one of the two arms of a row. The trials of both arms in a superblock, in the order
/// in which they ran, are taken as neighbours two by two: first and second.
struct PlacedValue {
  double value = 0;
  bool candidate = false;
  int superblock = 0;
  int neighbours = 0;  ///< number of the pair of neighbours; unique over all superblocks
  double side = 0;     ///< -0.5 for the first of its neighbours, 0.5 for the second, 0 without
};

/// What chance could have dealt to some values, independently of all others: trial_order.h.
struct LabelSwaps {
  std::vector<std::size_t> values;   ///< indices of those that may change their label
  std::vector<std::uint32_t> deals;  ///< bit i: values[i] is the candidate's; all equally likely

  bool operator==(const LabelSwaps&) const = default;
};

/// The values of one row with their places in the order of the trials, and the ways in which chance
/// could have dealt the labels of its two arms.
struct PlacedValues {
  std::vector<PlacedValue> values;
  std::vector<LabelSwaps> swaps;
  bool removes_places = true;  ///< whether the effect of places may be taken out

  [[nodiscard]] bool empty() const { return values.empty(); }
};

/// What the second of two neighbours has more than the first: the mean over neighbours that both
/// have a finite value, as a line over the shift `delta` of the candidate's values:
/// base - slope * delta.
struct PlaceEffect {
  double base = 0;
  double slope = 0;

  [[nodiscard]] double at(double delta) const { return base - slope * delta; }
};

/// The effect of a row's places, and at which shifts it is taken out: where a t test of "second
/// minus first", which sees no labels, has p < kPlaceLevel. Where the candidate's values are
/// lowered by the true shift, the rule depends on places alone, so that every swap of labels has
/// the same values.
class PlaceRule {
 public:
  explicit PlaceRule(const PlacedValues& values);

  [[nodiscard]] const PlaceEffect& effect() const { return effect_; }
  /// Two-sided p of "no effect"; 1 with fewer than three neighbours, or where most are equal, so
  /// that ties stay ties.
  [[nodiscard]] double p_value(double delta) const;
  [[nodiscard]] bool acts(double delta) const;
  /// The shifts at which acts() changes, ascending: none, one or two. It does not act on them.
  [[nodiscard]] const std::vector<double>& borders() const { return borders_; }

  static constexpr double kPlaceLevel = 0.20;

 private:
  void find_borders();

  std::vector<PlaceEffect> differences_;  ///< of each pair of neighbours
  PlaceEffect effect_;
  std::vector<double> borders_;
  bool acts_above_ = false;  ///< beyond the last border, everywhere without one
};

}  // namespace memduel
