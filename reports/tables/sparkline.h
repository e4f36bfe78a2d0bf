// A course of numbers in one line of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace memduel {

/// One bar per value, from `low` to `high`.
std::string sparkline(const std::vector<double>& values, double low, double high);

/// At most `width` values: of more, the largest of each stretch.
std::vector<double> thinned(const std::vector<double>& values, std::size_t width);

}  // namespace memduel
