// What the switches about malloc itself do: cleanup hands freed pages back, arenas bounds what
// freed blocks of many threads hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <memory>
#include <thread>

#include "base/error.h"
#include "workloads/optimizations/optimizations.h"

namespace memduel {
namespace {

// ---- cleanup
// ----------------------------------------------------------------------------------------

constexpr std::uintptr_t kPage = 4096;

/// Blocks of the heap, in the order of their addresses: smaller than any that malloc maps alone.
class HeapBlocks {
 public:
  static constexpr std::size_t kCount = 4096;
  static constexpr std::size_t kBytes = 16384;

  HeapBlocks() {
    for (std::size_t i = 0; i < kCount; ++i) blocks_.push_back(std::make_unique<char[]>(kBytes));
    std::sort(blocks_.begin(), blocks_.end());
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

  /// Stretches of freed blocks with nothing between them but malloc's own 16 bytes.
  [[nodiscard]] std::size_t runs() const {
    std::size_t runs = 1;
    for (std::size_t i = 1; i < freed_.size(); ++i)
      if (freed_[i] != freed_[i - 1] + kBytes + 16) ++runs;
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
TEST(CleanupBytes, ATrimGivesBackEveryPageThatFreedBlocksHold) {
  HeapBlocks blocks;
  blocks.free_below_the_last();
  clean_up(Cleanup::none);
  EXPECT_EQ(blocks.resident_pages(), blocks.pages());
  clean_up(Cleanup::trim);
  EXPECT_LE(blocks.resident_pages(), 2 * blocks.runs());
}

// ---- arenas
// -----------------------------------------------------------------------------------------

constexpr int kThreads = 8;
constexpr std::size_t kArenaBlock = 65536;
constexpr std::size_t kArenaBlocks = 64;  // 4 MiB

/// MiB that malloc holds free after eight threads, of which none has ended, have used 4 MiB each,
/// one after the other, but for the block that the last of it lies in.
int held_mebibytes(std::optional<int> arenas) {
  limit_arenas(arenas);
  std::promise<void> over;
  const std::shared_future<void> all_done = over.get_future().share();
  std::vector<std::thread> threads;
  const std::size_t before = mallinfo2().fordblks;
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
  const std::size_t held = mallinfo2().fordblks - before;
  over.set_value();
  for (std::thread& thread : threads) thread.join();
  return static_cast<int>(held >> 20);
}

/// Whether a process said a number from `least` to `most` with its exit status.
struct SaysBetween {
  int least;
  int most;
  bool operator()(int status) const {
    return WIFEXITED(status) && WEXITSTATUS(status) >= least && WEXITSTATUS(status) <= most;
  }
};

/// A limit is for the whole process and cannot be taken back: each in a process of its own.
class ArenasBytes : public ::testing::Test {
 protected:
  ArenasBytes() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ArenasBytes, EveryThreadHoldsItsOwnByDefault) {
  EXPECT_EXIT(std::_Exit(held_mebibytes(std::nullopt)), (SaysBetween{24, 32}), "");
}

TEST_F(ArenasBytes, TwoArenasHoldWhatTwoThreadsFreed) {
  EXPECT_EXIT(std::_Exit(held_mebibytes(2)), (SaysBetween{3, 8}), "");
}

TEST(ChooseArenas, RefusesWhatIsNoNumberFromOne) {
  EXPECT_EQ(choose_arenas("arenas", "default", "default"), std::nullopt);
  EXPECT_EQ(choose_arenas("arenas", "default", 4), 4);
  for (const nlohmann::json& value : {nlohmann::json(0), nlohmann::json("two")}) {
    try {
      static_cast<void>(choose_arenas("arenas", "default", value));
      FAIL() << "accepted " << value;
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), ::testing::HasSubstr("optimizations.arenas"));
      EXPECT_THAT(error.message(), ::testing::HasSubstr(value.dump()));
    }
  }
}

}  // namespace
}  // namespace memduel
