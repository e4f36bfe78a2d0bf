// The inside probes' numbers, sent as gauges of the running round.
#pragma once

namespace memduel {

/// Sends heap_in_use_bytes, heap_held_free_bytes, torch_cpu_bytes and peak_torch_cpu_bytes (since
/// the last call), then lets the tensor peak start again. Call before each mark that ends a round.
void send_memory_gauges();

}  // namespace memduel
