// The one place that knows the layout of the caching allocator's statistics. It is the same from
// LibTorch 1.13 to 2.x, but for the names of its types, which have moved from
// c10::cuda::CUDACachingAllocator to c10::CachingDeviceAllocator and are therefore not named here.
#pragma once

#include <cstddef>

#include "fl/probes.h"

namespace memduel {

/// @param stats a DeviceStats: its members are arrays by StatType, of which 0, AGGREGATE, is the
/// sum of the small and the large pool.
template <class Stats>
CudaBytes cuda_bytes_from(const Stats& stats) {
  constexpr std::size_t kAggregate = 0;
  CudaBytes bytes;
  bytes.allocated = stats.allocated_bytes[kAggregate].current;
  bytes.reserved = stats.reserved_bytes[kAggregate].current;
  bytes.inactive_split = stats.inactive_split_bytes[kAggregate].current;
  bytes.peak_allocated = stats.allocated_bytes[kAggregate].peak;
  bytes.peak_reserved = stats.reserved_bytes[kAggregate].peak;
  return bytes;
}

}  // namespace memduel
