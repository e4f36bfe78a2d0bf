// A closed interval; an end may be infinite when the data cannot bound it.
#pragma once

#include <limits>

namespace memduel {

/// The level of an interval or a test before any correction for several of them.
inline constexpr double kAlpha = 0.05;

struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  [[nodiscard]] bool contains(double x) const { return low <= x && x <= high; }
};

}  // namespace memduel
