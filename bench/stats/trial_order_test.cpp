#include "stats/trial_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace memduel {
namespace {

using Order = TrialOrder;

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

// The same generator, and the rule of docs/method.md, in Python.
TEST(SegmentAt, IsPinnedForASeed) {
  EXPECT_EQ(segment_at({1, 2, 0, {6}}, 0).superblocks,
            (std::vector<Order>{{0, 1, 0, 1}, {1, 0, 0, 1}, {1, 0, 0, 1}}));
  EXPECT_EQ(segment_at({2, 2, 0, {6}}, 0).superblocks,
            (std::vector<Order>{{1, 0, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 1}}))
      << "the second draw";
  EXPECT_EQ(segment_at({5, 2, 0, {6, 8}}, 6).first, 3);
  EXPECT_EQ(segment_at({5, 2, 0, {6, 8}}, 6).superblocks,
            (std::vector<Order>{{1, 1, 0, 0}, {1, 0, 0, 1}, {1, 1, 0, 0}, {0, 1, 0, 1}}));
  EXPECT_EQ(
      segment_at({7, 3, 0, {7}}, 0).superblocks,
      (std::vector<Order>{{0, 2, 2, 1, 1, 0}, {0, 2, 2, 1, 1, 0}, {0, 1, 2, 2, 1, 0}, {1, 0, 2}}));
}

TEST(SegmentsOf, AreUpToEightBlocks) {
  EXPECT_EQ(segments_of(5), (std::vector<int>{5}));
  EXPECT_EQ(segments_of(8), (std::vector<int>{8}));
  EXPECT_EQ(segments_of(10), (std::vector<int>{6, 4}));
  EXPECT_EQ(segments_of(12), (std::vector<int>{6, 6}));
  EXPECT_EQ(segments_of(16), (std::vector<int>{6, 6, 4}));
}

// By enumeration in Python: of 36, 72, 216, 432 and 1,296.
TEST(AcceptedOrders, AreCounted) {
  EXPECT_EQ(accepted_orders(4), 32);
  EXPECT_EQ(accepted_orders(5), 48);
  EXPECT_EQ(accepted_orders(6), 170);
  EXPECT_EQ(accepted_orders(7), 238);
  EXPECT_EQ(accepted_orders(8), 900);
}

TEST(SegmentAt, AcceptedOrdersOfTwoArmsAreEquallyLikely) {
  std::map<std::vector<Order>, int> seen;
  constexpr int kDraws = 32 * 300;
  for (int seed = 0; seed < kDraws; ++seed)
    ++seen[segment_at({static_cast<std::uint64_t>(seed), 2, 0, {4}}, 0).superblocks];
  ASSERT_EQ(seen.size(), 32U);
  // Binomial(9600, 1/32) has a standard deviation of 17; seeds are fixed.
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 300, 70);
}

TEST(SegmentAt, KeepsEveryCandidateNearTheBaseline) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::size_t arms = 2 + seed % 3;
    const std::size_t baseline = seed % arms;
    const Segment segment = segment_at({seed, arms, baseline, {static_cast<int>(5 + seed % 4)}}, 0);
    for (std::size_t candidate = 0; candidate < arms; ++candidate) {
      if (candidate == baseline) continue;
      Imbalance sum;
      for (const Order& order : segment.superblocks)
        sum += imbalance_of(order, baseline, candidate);
      EXPECT_LE(std::abs(sum.drift), 12);
      EXPECT_LE(std::abs(sum.parity), 4);
    }
  }
}

TEST(ImbalanceOf, CountsPlacesWithinThePair) {
  // Places of 0 and 2 alone: 0 0 2 2, so that 2 runs two places later each time.
  const Imbalance late = imbalance_of({0, 1, 0, 2, 1, 2}, 0, 2);
  EXPECT_EQ(late.drift, 2 * 4);
  EXPECT_EQ(late.parity, 0);
  EXPECT_EQ(imbalance_of({0, 2, 0, 2}, 0, 2).parity, -4);
  EXPECT_EQ(imbalance_of({2, 1, 0}, 0, 2).drift, -2);
}

}  // namespace
}  // namespace memduel
