// Tensor bytes where a role computes: the allocator wrapper's on the CPU, the caching allocator's
// on the GPU.
#pragma once

#include <torch/torch.h>

namespace memduel {

/// Live now.
double live_bytes(const at::Device& device);

/// The most since the last reset_peak_bytes.
double peak_bytes(const at::Device& device);

/// The peak starts again from what is live.
void reset_peak_bytes(const at::Device& device);

}  // namespace memduel
