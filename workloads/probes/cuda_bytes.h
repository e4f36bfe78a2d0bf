// What LibTorch's caching allocator says of the first GPU.
#pragma once

#include <cstdint>
#include <optional>

namespace memduel {

struct CudaBytes {
  std::int64_t allocated = 0;       ///< in blocks that tensors have
  std::int64_t reserved = 0;        ///< in segments from cudaMalloc, whether in use or not
  std::int64_t inactive_split = 0;  ///< free parts of segments that are in use: fragmentation
  std::int64_t peak_allocated = 0;  ///< both peaks since the last reset_cuda_peaks
  std::int64_t peak_reserved = 0;
};

/// Whether this worker was built with a LibTorch for CUDA.
bool has_cuda_probe();

/// Absent without the probe. The device must have been used.
std::optional<CudaBytes> cuda_bytes();

/// The peaks start again from what there is now.
void reset_cuda_peaks();

/// Gives what is reserved but not allocated back to the driver; nothing without the probe.
void empty_cuda_cache();

}  // namespace memduel
