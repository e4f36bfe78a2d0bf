#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "stats/hypothesis_tests.h"
#include "stats/samples.h"
#include "stats/trial_order.h"

namespace memduel {
namespace {

std::set<int> blocks_up_to(int last) {
  std::set<int> all;
  for (int block = 1; block <= last; ++block) all.insert(block);
  return all;
}

PairDeals drawn_pair(std::uint64_t seed, int blocks, std::size_t arms, const ArmPair& pair,
                     const std::set<int>& present) {
  return accepted_deals(segment_at({seed, arms, 0, {blocks}}, 0), arms, 0, pair, present);
}

TEST(AcceptedDeals, OfTwoArmsAreAllAcceptedOrders) {
  for (const int blocks : {4, 5, 6, 7, 8}) {
    const PairDeals deals = drawn_pair(3, blocks, 2, {0, 1}, blocks_up_to(blocks));
    EXPECT_EQ(static_cast<int>(deals.deals.size()), accepted_orders(blocks));
    EXPECT_EQ(static_cast<int>(deals.places.size()), 2 * blocks);
  }
}

/// The order with its pair's labels dealt anew.
Segment dealt_anew(const Segment& segment, const ArmPair& pair, std::uint32_t labels) {
  Segment other = segment;
  int bit = 0;
  for (TrialOrder& order : other.superblocks)
    for (std::size_t& arm : order)
      if (arm == pair.baseline || arm == pair.candidate)
        arm = (labels >> bit++ & 1) != 0 ? pair.candidate : pair.baseline;
  return other;
}

// Whatever order of the set was drawn, it has the same set: then all of them were equally likely.
TEST(AcceptedDeals, AreTheSameFromEveryOneOfThem) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Segment segment = segment_at({seed, 3, 0, {6}}, 0);
    for (const ArmPair& pair : {ArmPair{0, 1}, ArmPair{0, 2}, ArmPair{1, 2}}) {
      const PairDeals deals = accepted_deals(segment, 3, 0, pair, blocks_up_to(6));
      EXPECT_GE(deals.deals.size(), 2U);
      for (const std::uint32_t labels : deals.deals) {
        const PairDeals others =
            accepted_deals(dealt_anew(segment, pair, labels), 3, 0, pair, blocks_up_to(6));
        ASSERT_EQ(others.deals, deals.deals);
      }
    }
  }
}

TEST(AcceptedDeals, KeepWhatWasLost) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::set<int> present = blocks_up_to(6);
    present.erase(3);
    const PairDeals deals = drawn_pair(seed, 6, 2, {0, 1}, present);
    EXPECT_EQ(deals.places.size(), 10U);
    EXPECT_GE(deals.deals.size(), 20U) << "two whole superblocks";
    EXPECT_LE(deals.deals.size(), 72U) << "36 deals of two superblocks, two of the block";
    for (const std::uint32_t labels : deals.deals) EXPECT_EQ(std::popcount(labels), 5);
  }
}

TEST(AcceptedDeals, OfFiveArmsAreNotRestricted) {
  EXPECT_EQ(drawn_pair(1, 6, 5, {0, 3}, blocks_up_to(6)).deals.size(), 216U);
}

TEST(SmallestP, IsTwoOfTheSet) {
  for (const int blocks : {5, 6, 8}) {
    const PairDeals deals = drawn_pair(9, blocks, 2, {0, 1}, blocks_up_to(blocks));
    EXPECT_DOUBLE_EQ(smallest_p(std::vector{deals}), 2.0 / accepted_orders(blocks));
  }
}

// --- The test over exactly this set

PlacedValues of_deal(const PairDeals& deals, std::uint32_t labels, std::span<const double> values) {
  PlacedValues placed;
  LabelSwaps swaps;
  for (std::size_t i = 0; i < deals.places.size(); ++i) {
    placed.values.push_back(
        {values[i], (labels >> i & 1) != 0, 0, static_cast<int>(i / 2), i % 2 == 0 ? -0.5 : 0.5});
    swaps.values.push_back(i);
  }
  swaps.deals = deals.deals;
  placed.swaps = {swaps};
  return placed;
}

/// Noise, a drift, and an effect of the places: ever other ones.
std::vector<double> session(std::size_t trials, Random& random) {
  const double drift = random.normal();
  const double place = 3 * random.normal();
  std::vector<double> values;
  for (std::size_t i = 0; i < trials; ++i)
    values.push_back(random.normal() + drift * static_cast<double>(i) / 4 +
                     (i % 2 == 1 ? place : 0));
  return values;
}

TEST(SwapTestExact, NoFixedValuesAreCalledByMoreThanTheLevel) {
  Random random(5);
  for (const int blocks : {5, 6, 7}) {
    const PairDeals deals = drawn_pair(2, blocks, 2, {0, 1}, blocks_up_to(blocks));
    for (int repeat = 0; repeat < 4; ++repeat) {
      const std::vector<double> values = session(deals.places.size(), random);
      int called = 0;
      for (const std::uint32_t labels : deals.deals)
        called += static_cast<int>(SwapTest(of_deal(deals, labels, values)).p_value() <= 0.05);
      EXPECT_LE(called, 0.05 * static_cast<double>(deals.deals.size())) << blocks;
    }
  }
}

TEST(SwapTestExact, NorWithAThirdArmOrALostBlock) {
  Random random(6);
  std::set<int> lost = blocks_up_to(6);
  lost.erase(2);
  for (const PairDeals& deals :
       {drawn_pair(4, 6, 3, {0, 2}, blocks_up_to(6)), drawn_pair(4, 6, 3, {1, 2}, blocks_up_to(6)),
        drawn_pair(8, 6, 2, {0, 1}, lost)}) {
    const std::vector<double> values = session(deals.places.size(), random);
    int called = 0;
    for (const std::uint32_t labels : deals.deals)
      called += static_cast<int>(SwapTest(of_deal(deals, labels, values)).p_value() <= 0.05);
    EXPECT_LE(called, 0.05 * static_cast<double>(deals.deals.size()));
  }
}

TEST(SwapTestExact, SixAgainstSixApartHaveTwoOf170) {
  const PairDeals deals = drawn_pair(1, 6, 2, {0, 1}, blocks_up_to(6));
  std::uint32_t labels = 0;
  std::vector<double> values;
  for (std::size_t i = 0; i < deals.places.size(); ++i) {
    labels |= static_cast<std::uint32_t>(deals.places[i].candidate) << i;
    values.push_back((deals.places[i].candidate ? 100 : 0) + 0.1 * static_cast<double>(i * i % 7));
  }
  const SwapTest test(of_deal(deals, labels, values));
  EXPECT_NEAR(test.p_value(), 2.0 / 170, 1e-12);
  EXPECT_NEAR(test.estimate(), 100, 1);
}

TEST(SwapTestExact, PAndIntervalAgreeWhereThePlacesAct) {
  Random random(7);
  int acted = 0;
  for (int repeat = 0; repeat < 150; ++repeat) {
    const PairDeals deals = drawn_pair(static_cast<std::uint64_t>(repeat), 5 + repeat % 6, 2,
                                       {0, 1}, blocks_up_to(5 + repeat % 6));
    std::vector<double> values = session(deals.places.size(), random);
    const std::uint32_t labels = deals.deals[random.below(deals.deals.size())];
    for (std::size_t i = 0; i < values.size(); ++i)
      if ((labels >> i & 1) != 0) values[i] += 2;
    const SwapTest test(of_deal(deals, labels, values));
    acted += static_cast<int>(test.places().acts(0));
    for (const double alpha : {0.0125, 0.02, 0.05, 0.1, 0.3})
      EXPECT_EQ(test.p_value() <= alpha, !test.interval(alpha).contains(0)) << repeat;
  }
  EXPECT_GT(acted, 30);
}

// --- Several gates over the same set

TEST(WestfallYoung, OfOneTestIsItsP) {
  const PairDeals deals = drawn_pair(1, 6, 2, {0, 1}, blocks_up_to(6));
  Random random(8);
  const SwapTest test(of_deal(deals, deals.deals[17], session(12, random)));
  const std::vector<SwappedTest> one = {{test.ranks_at(0), test.p_value()}};
  EXPECT_DOUBLE_EQ(westfall_young(test.values(), one).front(), test.p_value());
}

TEST(WestfallYoung, CostsNothingWhereAllTestsMoveTogether) {
  const PairDeals deals = drawn_pair(1, 6, 2, {0, 1}, blocks_up_to(6));
  std::vector<double> values;
  for (const PairPlace& place : deals.places)
    values.push_back((place.candidate ? 100 : 0) + static_cast<double>(values.size()));
  std::uint32_t labels = 0;
  for (std::size_t i = 0; i < deals.places.size(); ++i)
    labels |= static_cast<std::uint32_t>(deals.places[i].candidate) << i;
  const SwapTest test(of_deal(deals, labels, values));
  const SwappedTest same{test.ranks_at(0), test.p_value()};
  for (const double p : westfall_young(test.values(), std::vector{same, same, same}))
    EXPECT_NEAR(p, 2.0 / 170, 1e-12);
}

TEST(WestfallYoung, NoFixedValuesHaveAFalseGateByMoreThanTheLevel) {
  Random random(9);
  const PairDeals deals = drawn_pair(2, 6, 2, {0, 1}, blocks_up_to(6));
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::vector<std::vector<double>> gates;
    for (int gate = 0; gate < 3; ++gate) gates.push_back(session(deals.places.size(), random));
    int called = 0;
    for (const std::uint32_t labels : deals.deals) {
      std::vector<SwappedTest> tests;
      for (const std::vector<double>& values : gates) {
        const SwapTest test(of_deal(deals, labels, values));
        tests.push_back({test.ranks_at(0), test.p_value()});
      }
      const std::vector<double> p = westfall_young(of_deal(deals, labels, gates.front()), tests);
      called += static_cast<int>(*std::ranges::min_element(p) <= 0.05);
    }
    EXPECT_LE(called, 0.05 * static_cast<double>(deals.deals.size()));
  }
}

}  // namespace
}  // namespace memduel
