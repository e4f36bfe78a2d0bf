// What each allocator says about itself, against what a program did.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "allocator_arm.h"
#include "support/memduel_program.h"
#include "util/process.h"

namespace memduel {
namespace {

using State = std::map<std::string, double>;

constexpr double kSmall = 20'000 * 1000.0;
constexpr double kLarge = 100 * 1e6;
/// Classes of sizes: a fifth at most; glibc's header of 16 bytes in 1000 is less.
constexpr double kRounding = 1.25;
/// What caches of a thread may hold back or take in advance.
constexpr double kCaches = 512 * 1024;

class AllocatorFacts : public testing::TestWithParam<Allocator> {
 protected:
  void SetUp() override {
    std::vector<std::string> argv = {"env", MEMDUEL_ALLOCATOR_FACTS};
    const auto library = allocator_library(GetParam());
    if (!library.empty()) argv.insert(argv.begin() + 1, "LD_PRELOAD=" + library.string());
    const HelperResult ran = capture(argv);
    ASSERT_EQ(ran.exit_status, 0) << ran.err;
    std::istringstream lines(ran.out);
    std::string word;
    lines >> word >> allocator_;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string step;
      std::string name;
      double value = 0;
      for (words >> step; words >> name >> value;) steps_[step][name] = value;
    }
    ASSERT_EQ(steps_.size(), 6U) << ran.out;
  }

  double at(const std::string& step, const std::string& name) { return steps_.at(step).at(name); }
  double rise(const std::string& name, const std::string& from, const std::string& to) {
    return at(to, name) - at(from, name);
  }
  bool has(const std::string& name) { return steps_.at("begin").contains(name); }

  std::string allocator_;
  std::map<std::string, State> steps_;
};

TEST_P(AllocatorFacts, TheAllocatorIsTheOneThatServesMalloc) {
  EXPECT_EQ(allocator_, name_of(GetParam()));
}

TEST_P(AllocatorFacts, WhatIsInUseRisesByWhatIsAllocatedAndItsRounding) {
  for (const auto& [bytes, from, to] :
       {std::tuple{kSmall, "begin", "small"}, {kLarge, "small_freed", "large"}}) {
    EXPECT_GE(rise("heap_in_use_bytes", from, to), bytes) << to;
    EXPECT_LE(rise("heap_in_use_bytes", from, to), bytes * kRounding + kCaches) << to;
  }
}

TEST_P(AllocatorFacts, WhatIsInUseFallsWhenItIsFreed) {
  EXPECT_LE(rise("heap_in_use_bytes", "small", "small_freed"), -kSmall + kCaches);
  EXPECT_LE(rise("heap_in_use_bytes", "large", "large_freed"), -kLarge + kCaches);
  EXPECT_LE(std::abs(rise("heap_in_use_bytes", "begin", "large_freed")), kCaches);
}

TEST_P(AllocatorFacts, WhatItHoldsIsNoLessThanWhatIsInUse) {
  for (const auto& [step, state] : steps_) {
    if (!state.contains("heap_in_use_bytes")) continue;
    for (const char* name :
         {"allocator_committed_bytes", "allocator_active_bytes", "allocator_resident_bytes"})
      if (state.contains(name)) {
        EXPECT_GE(state.at(name), state.at("heap_in_use_bytes")) << step << " " << name;
      }
  }
}

TEST_P(AllocatorFacts, BlocksOfAThreadThatHasEndedAreInUse) {
  if (GetParam() == Allocator::mimalloc) {
    EXPECT_FALSE(steps_.at("of_a_thread").contains("heap_in_use_bytes"))
        << "it cannot tell, and so says nothing";
    return;
  }
  EXPECT_GE(rise("heap_in_use_bytes", "large_freed", "of_a_thread"), kSmall);
}

TEST_P(AllocatorFacts, EachSaysWhatItCanAndNothingElse) {
  using Names = std::set<std::string>;
  const std::map<Allocator, Names> expected = {
      {Allocator::glibc,
       {"heap_in_use_bytes", "heap_free_bytes", "allocator_committed_bytes",
        "allocator_arena_count"}},
      {Allocator::jemalloc,
       {"heap_in_use_bytes", "heap_free_bytes", "allocator_active_bytes",
        "allocator_resident_bytes", "allocator_retained_bytes", "allocator_arena_count"}},
      {Allocator::tcmalloc,
       {"heap_in_use_bytes", "heap_free_bytes", "allocator_committed_bytes",
        "allocator_active_bytes", "allocator_resident_bytes", "allocator_retained_bytes"}},
      {Allocator::mimalloc, {"heap_in_use_bytes", "allocator_committed_bytes"}}};
  Names names;
  for (const auto& [name, value] : steps_.at("small")) names.insert(name);
  EXPECT_EQ(names, expected.at(GetParam()));
}

TEST_P(AllocatorFacts, FreedMemoryIsHeldOrGivenBack) {
  if (!has("heap_free_bytes")) return;
  // glibc gives blocks of 1 MB back at once; 20 MB of small ones go to the bins or back.
  const double held = at("large_freed", "heap_free_bytes");
  EXPECT_GE(held, 0);
  EXPECT_LE(held, kSmall + kLarge * kRounding);
  if (GetParam() == Allocator::tcmalloc) {
    EXPECT_GE(held, kLarge) << "it waits for later frees before it gives pages back";
    EXPECT_EQ(
        at("large_freed", "allocator_committed_bytes") - at("large_freed", "heap_in_use_bytes"),
        held);
  }
  if (GetParam() == Allocator::glibc) {
    EXPECT_EQ(
        at("large_freed", "allocator_committed_bytes") - at("large_freed", "heap_in_use_bytes"),
        held);
  }
}

TEST_P(AllocatorFacts, CountsTheArenaThatASecondThreadMakes) {
  if (!has("allocator_arena_count")) return;
  EXPECT_EQ(at("begin", "allocator_arena_count"), 1);
  EXPECT_EQ(at("of_a_thread", "allocator_arena_count"), 2);
}

INSTANTIATE_TEST_SUITE_P(All, AllocatorFacts,
                         testing::Values(Allocator::glibc, Allocator::jemalloc, Allocator::tcmalloc,
                                         Allocator::mimalloc),
                         [](const auto& each) { return std::string(name_of(each.param)); });

TEST(LoadedAllocator, IsSeenThroughTheRecorder) {
  const Workplace place;
  for (const Allocator allocator : {Allocator::glibc, Allocator::jemalloc}) {
    const auto library = allocator_library(allocator);
    const HelperResult ran = capture({"env", "LD_PRELOAD=" MEMDUEL_RECORDER ":" + library.string(),
                                      "MEMDUEL_RECORDER_DIR=" + place.path("").string(),
                                      "MEMDUEL_RECORDER_MODE=count", MEMDUEL_ALLOCATOR_FACTS});
    EXPECT_EQ(ran.out.substr(0, ran.out.find('\n')),
              std::string("allocator ") + name_of(allocator));
  }
}

TEST(LoadedAllocator, DoesNotCountALibraryThatIsLoadedButNotUsed) {
  const HelperResult ran =
      capture({"env",
               "LD_PRELOAD=" + allocator_library(Allocator::tcmalloc).string() + ":" +
                   allocator_library(Allocator::jemalloc).string(),
               MEMDUEL_ALLOCATOR_FACTS});
  EXPECT_EQ(ran.out.substr(0, ran.out.find('\n')), "allocator tcmalloc");
}

}  // namespace
}  // namespace memduel
