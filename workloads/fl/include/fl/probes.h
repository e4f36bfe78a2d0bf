// What LibTorch's caching allocator says of the GPU that this process uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace memduel {

struct CudaBytes {
  std::int64_t allocated = 0;       ///< in blocks that tensors have
  std::int64_t reserved = 0;        ///< in segments from cudaMalloc, whether in use or not
  std::int64_t inactive_split = 0;  ///< free parts of segments that are in use: fragmentation
  std::int64_t peak_allocated = 0;  ///< both peaks since the last reset_cuda_peaks
  std::int64_t peak_reserved = 0;
};

/// Of the device, as the driver counts them for all processes.
struct CudaCapacity {
  std::int64_t free = 0;
  std::int64_t total = 0;
};

/// Why there is no GPU of this number to ask: a LibTorch for the CPU alone, or no such device;
/// empty where there is one.
std::string why_no_cuda(int index = 0);

/// 0 without a LibTorch for CUDA.
int gpu_count();

/// The GPU that everything below is about; the first until somebody names another.
void use_gpu(int index);

/// Whether this process has used the device; asking it anything starts it.
bool is_cuda_started();

/// Absent without a LibTorch for CUDA. The device must have been used.
std::optional<CudaBytes> cuda_bytes();
std::optional<CudaCapacity> cuda_capacity();

/// The peaks start again from what there is now.
void reset_cuda_peaks();

/// Waits until the device has done all that it was asked for.
void synchronize_cuda();

/// Gives what is reserved but not allocated back to the driver; nothing without a LibTorch for
/// CUDA.
void empty_cuda_cache();

}  // namespace memduel
