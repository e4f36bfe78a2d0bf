// What glibc gives back, page by page.
#include "memory/heap_cleanup.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace memduel {
namespace {

constexpr std::uintptr_t kPage = 4096;

/// Blocks of the heap, in the order of their addresses: smaller than any that malloc maps alone.
class HeapBlocks {
 public:
  static constexpr std::size_t kCount = 4096;
  static constexpr std::size_t kBytes = 16384;
  /// A block with what malloc puts before it.
  static constexpr std::size_t kChunk = kBytes + 16;

  HeapBlocks() {
    for (std::size_t i = 0; i < kCount; ++i) blocks_.push_back(std::make_unique<char[]>(kBytes));
    std::ranges::sort(blocks_);
  }

  /// All but the one at the highest address: below a live block, free() gives nothing back.
  void free_below_the_last() {
    for (std::size_t i = 0; i + 1 < kCount; ++i) freed_.push_back(address(i));
    blocks_.erase(blocks_.begin(), blocks_.end() - 1);
  }

  /// Of the pages that lie wholly within a freed block, as the kernel has them.
  [[nodiscard]] std::size_t resident_pages() const {
    std::size_t resident = 0;
    for (const std::uintptr_t block : freed_) {
      unsigned char here[kWholePages];
      const std::uintptr_t first = (block + kPage - 1) / kPage * kPage;
      EXPECT_EQ(mincore(reinterpret_cast<void*>(first), sizeof here * kPage, here), 0);
      resident += static_cast<std::size_t>(std::count_if(
          std::begin(here), std::end(here), [](unsigned char page) { return (page & 1) != 0; }));
    }
    return resident;
  }
  [[nodiscard]] std::size_t pages() const { return freed_.size() * kWholePages; }
  [[nodiscard]] static std::int64_t freed_bytes() { return (kCount - 1) * kChunk; }

  /// Stretches of freed blocks with nothing between them but malloc's own 16 bytes.
  [[nodiscard]] std::size_t runs() const {
    std::size_t runs = 1;
    for (std::size_t i = 1; i < freed_.size(); ++i)
      if (freed_[i] != freed_[i - 1] + kChunk) ++runs;
    return runs;
  }

 private:
  static constexpr std::size_t kWholePages = kBytes / kPage - 1;
  [[nodiscard]] std::uintptr_t address(std::size_t i) const {
    return reinterpret_cast<std::uintptr_t>(blocks_[i].get());
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<std::uintptr_t> freed_;
};

// A free run keeps the page in which malloc notes it, at each end at most one.
TEST(HeapCleanup, ATrimGivesBackEveryPageThatFreedBlocksHold) {
  HeapBlocks blocks;
  blocks.free_below_the_last();
  EXPECT_EQ(clean_heap_up(HeapCleanup::none).action, HeapAction::none);
  EXPECT_EQ(blocks.resident_pages(), blocks.pages());
  const HeapOutcome outcome = clean_heap_up(HeapCleanup::give_back);
  EXPECT_EQ(outcome.action, HeapAction::trimmed);
  EXPECT_EQ(outcome.trim_result, 1);
  EXPECT_EQ(outcome.note, "");
  EXPECT_LE(blocks.resident_pages(), 2 * blocks.runs());
}

// VmRSS lags behind by at most 64 pages per CPU that the process ran on.
TEST(HeapCleanup, TheReportSaysWhatWasFreed) {
  constexpr std::int64_t kLag = 2 << 20;
  HeapBlocks blocks;
  blocks.free_below_the_last();
  const CleanupReport report = cleanup_memory({.verbose = true});
  ASSERT_TRUE(report.freed_bytes().has_value());
  EXPECT_GE(report.before.heap_held_free_bytes.value(), HeapBlocks::freed_bytes());
  EXPECT_GE(*report.freed_bytes(), HeapBlocks::freed_bytes() - kLag);
  EXPECT_LE(*report.freed_bytes(), *report.before.heap_held_free_bytes + kLag);
  EXPECT_GT(report.seconds, 0);
}

}  // namespace
}  // namespace memduel
