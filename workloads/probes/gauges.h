// The inside probes' numbers, sent as gauges of the running round.
#pragma once

#include <string>
#include <vector>

namespace memduel {

/// Which probes send their numbers; the torch probe counts from here on, so call it before the
/// first tensor. @param meters names as in `list meters`; others are ignored.
void install_probes(const std::vector<std::string>& meters);

/// allocator: sends what allocator_state has. torch: sends torch_cpu_bytes and
/// peak_torch_cpu_bytes (since the last call), then lets the tensor peak start again. Call before
/// each mark that ends a round.
void send_memory_gauges();

}  // namespace memduel
