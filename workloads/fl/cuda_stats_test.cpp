// The statistics of both LibTorch generations, as their headers lay them out: 1.13's
// c10/cuda/CUDACachingAllocator.h and 2.x's c10/core/CachingDeviceAllocator.h.
#include "cuda_stats.h"

#include <gtest/gtest.h>

#include <array>

namespace memduel {
namespace {

struct Stat {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;
  std::int64_t freed = 0;
};
using StatArray = std::array<Stat, 3>;  ///< aggregate, small pool, large pool

struct Stats113 {
  StatArray allocation, segment, active, inactive_split;
  StatArray allocated_bytes, reserved_bytes, active_bytes, inactive_split_bytes;
  std::int64_t num_alloc_retries = 0, num_ooms = 0;
  Stat oversize_allocations, oversize_segments;
  std::int64_t max_split_size = 0;
};

struct Stats2 {
  StatArray allocation, segment, active, inactive_split;
  StatArray allocated_bytes, reserved_bytes, active_bytes, inactive_split_bytes, requested_bytes;
  std::int64_t num_alloc_retries = 0, num_ooms = 0;
  Stat oversize_allocations, oversize_segments;
  std::int64_t num_sync_all_streams = 0, num_device_alloc = 0, num_device_free = 0;
  std::int64_t max_split_size = 0;
};

template <class Stats>
void expect_sums_of_both_pools() {
  Stats stats;
  stats.allocated_bytes = {{{30, 50, 90, 60}, {10, 20, 0, 0}, {20, 30, 0, 0}}};
  stats.reserved_bytes = {{{64, 96, 96, 32}, {32, 32, 0, 0}, {32, 64, 0, 0}}};
  stats.inactive_split_bytes = {{{7, 9, 0, 0}, {3, 4, 0, 0}, {4, 5, 0, 0}}};
  const CudaBytes bytes = cuda_bytes_from(stats);
  EXPECT_EQ(bytes.allocated, 30);
  EXPECT_EQ(bytes.peak_allocated, 50);
  EXPECT_EQ(bytes.reserved, 64);
  EXPECT_EQ(bytes.peak_reserved, 96);
  EXPECT_EQ(bytes.inactive_split, 7);
}

TEST(CudaStats, AreReadAsLibTorch113LaysThemOut) {
  expect_sums_of_both_pools<Stats113>();
}

TEST(CudaStats, AreReadAsLibTorch2LaysThemOut) {
  expect_sums_of_both_pools<Stats2>();
}

}  // namespace
}  // namespace memduel
