// Estimates from one or two samples: medians and the Hodges-Lehmann shift (Hodges and Lehmann, Ann.
// Math. Stat. 34, 1963), the slope of a series as the median of all pairwise slopes (Theil 1950,
// Sen 1968), the modes of a variant's values (runs that hold one more arena, one more buffer, one
// more page cache), and what a location test cannot see: the tail, "rarely much worse".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stats/samples.h"

namespace memduel {

/// Median of at least one value; the mean of the middle two for an even count. Values may be
/// infinite; two infinite middles of the same sign give that infinity.
double median(std::vector<double> values);

/// The standard deviation of a normal distribution whose absolute deviations have this median.
double sigma_of_deviations(std::vector<double> deviations);

/// All b - a, sorted. Equal infinities give 0.
std::vector<double> sorted_differences(std::span<const double> a, std::span<const double> b);

/// Median of all b - a: the shift of b against a. Both sides need at least one value.
double hodges_lehmann_shift(std::span<const double> a, std::span<const double> b);

/// Slope of y over x in y's unit per unit of x. Nothing with fewer than two distinct x. Series of
/// more than 1,000 points are first reduced to medians of equal stretches, which keeps the number
/// of pairs under half a million.
std::optional<double> theil_sen_slope(std::span<const double> x, std::span<const double> y);

struct Mode {
  double low = 0;
  double high = 0;
  double median = 0;
  int count = 0;
};

/// The groups of three values or more, where there are two of them; otherwise none. A group ends at
/// a gap of more than half the widest, which is at least 1% of the median; no group is wider than
/// that half, and there are five groups at most, single values among them. Ascending.
std::vector<Mode> find_modes(std::span<const double> values);

/// The mean of independent values with its interval of confidence 1 - alpha by Student's t.
struct MeanInterval {
  double mean = 0;
  Interval interval;
};

/// At least two finite values.
MeanInterval mean_interval(std::span<const double> values, double alpha);

/// What a table states of a sample.
struct SampleSummary {
  std::size_t count = 0;
  double mean = 0;
  std::optional<double> stddev;  ///< of the sample, with n - 1; absent for a single value
  double median = 0;
  double min = 0;
  double max = 0;
};

/// Absent without values.
std::optional<SampleSummary> summarized(const std::vector<double>& values);

struct DistinctValue {
  double value = 0;
  int count = 0;
};

struct Tail {
  double maximum = 0;
  std::vector<DistinctValue> distinct;  ///< ascending
};

/// At least one value.
Tail tail(std::span<const double> values);

/// Upper 95% bound of the share of trials above a ceiling after `exceeded` of n did (Clopper and
/// Pearson, Biometrika 26, 1934, one-sided): 1 - 0.05^(1/n) after none.
double exceedance_bound(int exceeded, int n);

/// Two-sided 95% interval of a probability after `hits` of n (Clopper and Pearson 1934).
Interval clopper_pearson(int hits, int n);

}  // namespace memduel
