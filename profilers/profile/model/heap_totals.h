// The exact counters of one process image.
#pragma once

#include <cstdint>

#include "base/json/described.h"

namespace memduel {

/// Block bytes (see profilers/recorder/layout.h), but for allocated_bytes.
struct HeapTotals {
  std::int64_t live_bytes = 0;       ///< live_at_end_bytes of an image that has ended
  std::int64_t peak_bytes = 0;       ///< peak_heap_bytes
  std::int64_t allocated_bytes = 0;  ///< requested bytes
  std::int64_t allocations = 0;      ///< allocation_count
  std::int64_t mapping_bytes = 0;
  std::int64_t mapping_peak_bytes = 0;
  /// Of live blocks and of mappings as peak_heap_and_mapped_bytes counts them; 0 in a profile of an
  /// earlier version.
  std::int64_t together_peak_bytes = 0;
  std::int64_t lost = 0;     ///< events, scopes or blocks that could not be kept
  std::int64_t threads = 0;  ///< that allocated or freed
};

template <>
inline constexpr auto kDescription<HeapTotals> =
    described("HeapTotals", always("live_bytes", &HeapTotals::live_bytes),
              always("peak_bytes", &HeapTotals::peak_bytes),
              always("allocated_bytes", &HeapTotals::allocated_bytes),
              always("allocations", &HeapTotals::allocations),
              always("mapping_bytes", &HeapTotals::mapping_bytes),
              always("mapping_peak_bytes", &HeapTotals::mapping_peak_bytes),
              always("together_peak_bytes", &HeapTotals::together_peak_bytes),
              always("lost", &HeapTotals::lost), always("threads", &HeapTotals::threads));

}  // namespace memduel
