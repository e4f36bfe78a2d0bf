// Tensor bytes where a role computes: the allocator wrapper's on the CPU, the caching allocator's
// on the GPU.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace memduel {

/// How the bytes of a device are counted that is neither the CPU nor a GPU.
struct DeviceCounters {
  std::int64_t (*live)();
  std::int64_t (*peak)();
  void (*reset_peak)();
};
void count_other_devices_with(const DeviceCounters& counters);

/// Live now.
double live_bytes(const at::Device& device);

/// The most since the last reset_peak_bytes.
double peak_bytes(const at::Device& device);

/// The peak starts again from what is live.
void reset_peak_bytes(const at::Device& device);

}  // namespace memduel
