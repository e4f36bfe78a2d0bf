// What glibc gives back, page by page.

#include "allocator_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "memduel/memory.h"

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
  EXPECT_GE(report.before.heap_free_bytes.value(), HeapBlocks::freed_bytes());
  EXPECT_GE(*report.freed_bytes(), HeapBlocks::freed_bytes() - kLag);
  EXPECT_LE(*report.freed_bytes(), *report.before.heap_free_bytes + kLag);
  EXPECT_GT(report.seconds, 0);
}

// A limit is for the whole process and cannot be taken back: each test is a process of its own.

using ::testing::HasSubstr;

constexpr int kThreads = 8;
constexpr std::size_t kArenaBlock = 65536;
constexpr std::size_t kArenaBlocks = 64;  // 4 MiB

/// Calls `look` once eight threads, of which none has ended, have used 4 MiB each, one after the
/// other, and freed them but for the block that the last of it lies in.
template <class Look>
auto after_eight_threads(Look look) {
  std::promise<void> over;
  const std::shared_future<void> all_done = over.get_future().share();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    std::promise<void> used;
    std::future<void> turn = used.get_future();
    threads.emplace_back([&used, all_done] {
      std::vector<std::unique_ptr<char[]>> blocks;
      for (std::size_t block = 0; block < kArenaBlocks; ++block)
        blocks.push_back(std::make_unique<char[]>(kArenaBlock));
      blocks.erase(blocks.begin(), blocks.end() - 1);
      used.set_value();
      all_done.wait();
    });
    turn.wait();
  }
  auto seen = look();
  over.set_value();
  for (std::thread& thread : threads) thread.join();
  return seen;
}

/// MiB that malloc holds free then.
int held_mebibytes() {
  const std::size_t before = mallinfo2().fordblks;
  return after_eight_threads(
      [before] { return static_cast<int>((mallinfo2().fordblks - before) >> 20); });
}

/// Whether a process said a number from `least` to `most` with its exit status.
struct SaysBetween {
  int least;
  int most;
  bool operator()(int status) const {
    return WIFEXITED(status) && WEXITSTATUS(status) >= least && WEXITSTATUS(status) <= most;
  }
};

/// Tells of itself on stderr, and ends.
[[noreturn]] void say(const ArenaUse& use) {
  std::cerr << "limit " << use.limit.value_or(-1) << " made " << use.made.value_or(-1) << " "
            << (use.is_kept() ? "kept" : "not kept") << "; " << use.note;
  std::_Exit(0);
}

class Arenas : public ::testing::Test {
 protected:
  Arenas() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  static constexpr SaysBetween kEnds{0, 0};
};

TEST_F(Arenas, EveryThreadHoldsItsOwnByDefault) {
  EXPECT_EXIT(std::_Exit(held_mebibytes()), (SaysBetween{24, 32}), "");
}

TEST_F(Arenas, TwoHoldWhatTwoThreadsFreed) {
  EXPECT_EXIT(
      {
        limit_arenas(kClientArenas);
        std::_Exit(held_mebibytes());
      },
      (SaysBetween{3, 8}), "");
}

TEST_F(Arenas, AreCountedAgainstTheLimitThatWasSetBeforeTheThreads) {
  EXPECT_EXIT(
      {
        limit_arenas(kServerArenas);
        say(after_eight_threads(arena_use));
      },
      kEnds, "limit 4 made 4 kept; $");
}

TEST_F(Arenas, ALimitThatComesTooLateIsSeen) {
  EXPECT_EXIT(say(after_eight_threads([] { return limit_arenas(2); })), kEnds,
              "limit 2 made 9 not kept; 9 arenas exist, more than the limit of 2: those made "
              "before it was set stay");
}

TEST_F(Arenas, WithoutALimitItSaysSo) {
  EXPECT_EXIT(
      {
        unsetenv("MALLOC_ARENA_MAX");
        say(arena_use());
      },
      kEnds, "limit -1 made 1 not kept; no limit is set");
}

TEST_F(Arenas, AVariableThatTheProgramSetsItselfIsNotHeard) {
  EXPECT_EXIT(
      {
        setenv("MALLOC_ARENA_MAX", "2", 1);
        say(arena_use());
      },
      kEnds,
      "limit -1 made 1 not kept; MALLOC_ARENA_MAX was set after the program had started, which "
      "glibc does not hear");
}

TEST(LimitArenas, RefusesLessThanOne) {
  for (const int most : {0, -1}) {
    try {
      limit_arenas(most);
      FAIL() << "accepted " << most;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(),
                  HasSubstr("expected a number of arenas from 1, found " + std::to_string(most)));
    }
  }
}

}  // namespace
}  // namespace memduel
