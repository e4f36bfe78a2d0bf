// What share of the average each client has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace memduel {

/// @param weights equal or sample_size; @param sample_sizes of the clients that take part, none
/// negative. Shares in the clients' order, sum 1. Throws Error(cannot_measure) where no client has
/// samples to weigh by.
std::vector<double> shares_of(const std::string& weights,
                              const std::vector<std::int64_t>& sample_sizes);

}  // namespace memduel
