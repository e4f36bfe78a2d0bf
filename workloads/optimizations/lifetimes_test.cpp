#include "workloads/optimizations/lifetimes.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "memduel/memory.h"

namespace memduel {
namespace {

std::int64_t resident_mebibytes() {
  return memory_info({.pss = false}).rss_bytes.value() >> 20;
}

/// MiB that are given back of 64 MiB which lie free below a block that stays.
std::int64_t given_back_by(Cleanup cleanup) {
  std::vector<std::unique_ptr<char[]>> blocks;
  for (int i = 0; i < 4096; ++i) blocks.push_back(std::make_unique<char[]>(16384));
  blocks.erase(blocks.begin(), blocks.end() - 1);
  const std::int64_t before = resident_mebibytes();
  clean_up(cleanup);
  return before - resident_mebibytes();
}

// Resident memory is counted in batches of 64 pages per CPU.
TEST(CleanupSwitch, HandsFreedMemoryBackUnderTrimAlone) {
  if (allocator_type() != Allocator::glibc) GTEST_SKIP() << "this test is about glibc's malloc";
  EXPECT_LE(given_back_by(Cleanup::none), 2);
  EXPECT_GE(given_back_by(Cleanup::trim), 60);
}

}  // namespace
}  // namespace memduel
