// Medians and the Hodges-Lehmann estimates (Hodges and Lehmann, Ann. Math. Stat. 34, 1963).
#pragma once

#include <span>
#include <vector>

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

}  // namespace memduel
