// Jumps in a series that is level between them.
#pragma once

#include <span>
#include <vector>

namespace memduel {

/// First indices after each jump, ascending; at most three. A jump is a split whose sides' medians
/// differ by at least five times the robust spread around them, with three points or more on each
/// side.
std::vector<size_t> find_steps(std::span<const double> y);

}  // namespace memduel
