// Several modes in the values of one arm: runs that hold one more arena, one more buffer, one more
// page cache.
#pragma once

#include <span>
#include <vector>

namespace memduel {

struct Mode {
  double low = 0;
  double high = 0;
  double median = 0;
  int count = 0;
};

/// Two to five groups of values whose widest gap is at least twice the width of any of them and 1 %
/// of the median, two of them with three values or more; otherwise none. Ascending.
std::vector<Mode> find_modes(std::span<const double> values);

}  // namespace memduel
