#include "experiment/plan/block_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace memduel {
namespace {

using Order = std::vector<std::size_t>;

// Expected orders: a Fisher-Yates shuffle over MT19937-64, seeded by SplitMix64, written in Python
// from the published recurrences; the first gives the standard's 10000th number
// 9981545732273789042.
TEST(BlockOrder, IsPinnedForASeed) {
  const std::vector<Order> two = {{1, 0}, {1, 0}, {0, 1}, {0, 1}, {0, 1},
                                  {0, 1}, {0, 1}, {1, 0}, {1, 0}};
  for (int block = 0; block < 9; ++block) {
    EXPECT_EQ(block_order(1, block, 2), two[static_cast<std::size_t>(block)]);
  }
  EXPECT_EQ(block_order(7, 0, 4), (Order{0, 3, 1, 2}));
  EXPECT_EQ(block_order(7, 3, 4), (Order{0, 3, 2, 1}));
  EXPECT_EQ(block_order(42, 2, 3), (Order{1, 0, 2}));
}

TEST(SuperblockOrder, IsPinnedForASeed) {
  const std::vector<Order> two = {{0, 1, 0, 1}, {1, 0, 1, 0}, {1, 0, 1, 0}, {0, 1, 0, 1}};
  for (int number = 0; number < 4; ++number) {
    EXPECT_EQ(superblock_order(1, number, 2), two[static_cast<std::size_t>(number)]);
  }
  EXPECT_EQ(superblock_order(7, 3, 3), (Order{1, 0, 1, 2, 2, 0}));
}

TEST(SuperblockOrder, TheSixOrdersOfAPairAreEquallyLikelyWhateverTheOthersPlaces) {
  for (const std::size_t arms : {std::size_t{2}, std::size_t{3}}) {
    std::map<Order, int> seen;
    constexpr int kDraws = 6000;
    for (int seed = 0; seed < kDraws; ++seed) {
      Order pair;
      for (const std::size_t arm :
           superblock_order(static_cast<std::uint64_t>(seed), seed % 5, arms))
        if (arm < 2) pair.push_back(arm);
      ++seen[pair];
    }
    ASSERT_EQ(seen.size(), 6U);
    // Binomial(6000, 1/6) has a standard deviation of 28.9; seeds are fixed, so this cannot
    // flicker.
    for (const auto& [order, count] : seen) EXPECT_NEAR(count, kDraws / 6, 120);
  }
}

TEST(BlockOrder, EveryBlockHoldsEveryArmOnce) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (std::size_t arms = 1; arms <= 7; ++arms) {
      Order order = block_order(seed, static_cast<int>(seed % 20), arms);
      std::ranges::sort(order);
      Order all(arms);
      std::iota(all.begin(), all.end(), std::size_t{0});
      EXPECT_EQ(order, all);
    }
  }
}

TEST(BlockOrder, EveryOrderIsEquallyLikely) {
  std::map<Order, int> seen;
  constexpr int kDraws = 6000;
  for (int seed = 0; seed < kDraws; ++seed) {
    ++seen[block_order(static_cast<std::uint64_t>(seed), seed % 5, 3)];
  }
  ASSERT_EQ(seen.size(), 6U);
  // Binomial(6000, 1/6) has a standard deviation of 28.9; seeds are fixed, so this cannot flicker.
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, kDraws / 6, 120);
}

}  // namespace
}  // namespace memduel
