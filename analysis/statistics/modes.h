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

/// The groups of three values or more, where there are two of them; otherwise none. A group ends at
/// a gap of more than half the widest, which is at least 1 % of the median; no group is wider than
/// that half, and there are five groups at most, single values among them. Ascending.
std::vector<Mode> find_modes(std::span<const double> values);

}  // namespace memduel
