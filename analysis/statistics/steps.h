// Jumps in a series that is level between them.
#pragma once

#include <span>
#include <vector>

namespace memduel {

/// First indices after each jump, ascending; at most three: binary segmentation (Scott and Knott
/// 1974) by squares, as deep as every two neighbouring levels (medians of three points or more)
/// differ by at least five times the robust spread around all levels.
std::vector<size_t> find_steps(std::span<const double> y);

}  // namespace memduel
