// The slope of a series as the median of all pairwise slopes (Theil 1950, Sen 1968).
#pragma once

#include <optional>
#include <span>

namespace memduel {

/// Slope of y over x in y's unit per unit of x. Nothing with fewer than two distinct x. Series of
/// more than 1,000 points are first reduced to medians of equal stretches, which keeps the number
/// of pairs under half a million.
std::optional<double> theil_sen_slope(std::span<const double> x, std::span<const double> y);

}  // namespace memduel
