// Infinities and NaNs in what clients send.
#pragma once

#include <cstddef>
#include <string>

#include "workloads/federated/state.h"

namespace memduel {

/// Whether all numbers are finite; integers always are. `count` elements lie at `data`.
bool all_finite(const char* data, std::size_t count, at::ScalarType type);

/// Throws Error(cannot_measure) naming the client and the first tensor with a NaN or an infinity.
void expect_finite(const State& state, const std::string& client);

/// The same complaint, for one tensor.
[[noreturn]] void complain_not_finite(const std::string& tensor, const std::string& client);

}  // namespace memduel
