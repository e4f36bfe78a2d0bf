#include "analysis/statistics/superblock_test.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "analysis/statistics/mean_test.h"
#include "analysis/values/random.h"

namespace memduel {
namespace {

/// Values in the order in which the trials ran; candidates are marked with B.
std::vector<PlacedValue> placed(const std::string& order, const std::vector<double>& values) {
  std::vector<PlacedValue> all;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int superblock = static_cast<int>(i / 4);
    all.push_back(
        {values[i], order[i] == 'B', superblock, static_cast<int>(i / 2), i % 2 == 0 ? -0.5 : 0.5});
  }
  return all;
}

// Expected numbers: counted by hand over the deals of a superblock.
TEST(DealtRankP, CountsTheSixDealsOfASuperblock) {
  // Doubled ranks 2, 4, 6, 8: sums of two are 6, 8, 10, 10, 12, 14 around 10.
  EXPECT_DOUBLE_EQ(dealt_rank_p(std::vector<DealtRanks>{{{2, 4, 6, 8}, 2}}, 14), 2.0 / 6);
  EXPECT_DOUBLE_EQ(dealt_rank_p(std::vector<DealtRanks>{{{2, 4, 6, 8}, 2}}, 12), 4.0 / 6);
  EXPECT_DOUBLE_EQ(dealt_rank_p(std::vector<DealtRanks>{{{2, 4, 6, 8}, 2}}, 10), 1);
}

TEST(DealtRankP, CountsTheThreeDealsThatALostTrialLeaves) {
  // One candidate of three: 2, 4 or 6 around 4.
  EXPECT_DOUBLE_EQ(dealt_rank_p(std::vector<DealtRanks>{{{2, 4, 6}, 1}}, 6), 2.0 / 3);
}

TEST(DealtRankP, MultipliesOverSuperblocksAndASingleBlock) {
  std::vector<DealtRanks> all;
  int rank = 0;
  int largest = 0;
  for (int s = 0; s < 3; ++s) {
    DealtRanks one{{}, 2};
    for (int i = 0; i < 4; ++i) one.ranks.push_back(rank += 2);
    largest += one.ranks[2] + one.ranks[3];
    all.push_back(one);
  }
  EXPECT_NEAR(dealt_rank_p(all, largest), 2.0 / 216, 1e-12);
  all.push_back({{rank + 2, rank + 4}, 1});
  EXPECT_NEAR(dealt_rank_p(all, largest + rank + 4), 2.0 / 432, 1e-12);
}

TEST(SuperblockTest, ArmsThatLieApartHaveTheSmallestPOfTheirSize) {
  std::vector<double> values;
  const std::string order = "ABBAAABBBABA";
  for (std::size_t i = 0; i < order.size(); ++i)
    values.push_back((order[i] == 'B' ? 100 : 0) + 0.1 * static_cast<double>(i * i % 7));
  const SuperblockTest test(placed(order, values));
  EXPECT_NEAR(test.p_value(), 2.0 / 216, 1e-12);
  EXPECT_NEAR(test.estimate(), 100, 1);
  EXPECT_FALSE(test.interval(0.01).contains(0));
  EXPECT_TRUE(test.interval(0.009).contains(0));
}

TEST(SuperblockTest, TakesOutWhatAPlaceDoesToATrial) {
  // Without noise but for the place: second neighbours are 50 higher, the candidate 1.
  std::vector<double> values;
  const std::string order = "ABBABBAAABAB";
  for (std::size_t i = 0; i < order.size(); ++i)
    values.push_back((order[i] == 'B' ? 1 : 0) + (i % 2 == 1 ? 50 : 0) +
                     0.001 * static_cast<double>(i * i % 11));
  const SuperblockTest test(placed(order, values));
  EXPECT_NEAR(test.estimate(), 1, 0.05);
  EXPECT_LT(test.p_value(), 0.05);
}

TEST(SuperblockTest, AFailedCandidateIsWorseThanAnyValue) {
  const double dead = INFINITY;
  const SuperblockTest test(
      placed("ABBAAABBBABA", {1, dead, dead, 2, 1, 2, dead, dead, dead, 2, dead, 1}));
  EXPECT_NEAR(test.p_value(), 2.0 / 216, 1e-12);
}

TEST(SuperblockTest, LooksAtNoLabelsWhenItTakesThePlaceOut) {
  const std::vector<double> values = {3, 9, 4, 8, 2, 7, 5, 11};
  const PositionEffect one = position_effect(placed("ABBAABAB", values));
  const PositionEffect other = position_effect(placed("AABBBBAA", values));
  EXPECT_DOUBLE_EQ(one.base, (6 + 4 + 5 + 6) / 4.0);
  EXPECT_DOUBLE_EQ(other.base, one.base);
}

/// 5 to 9 blocks, so that the hull is searched as a whole, with ties and without.
std::vector<PlacedValue> draw_values() {
  const auto blocks = *rc::gen::inRange(5, 10);
  const int range = *rc::gen::element(4, 100000);
  std::string order;
  for (int left = blocks; left > 0; left -= 2) {
    const auto deal =
        *rc::gen::element<std::string>("AABB", "ABAB", "ABBA", "BAAB", "BABA", "BBAA");
    const auto pair = *rc::gen::element<std::string>("AB", "BA");
    order += left >= 2 ? deal : pair;
  }
  const auto values =
      *rc::gen::container<std::vector<int>>(order.size(), rc::gen::inRange(0, range));
  return placed(order, {values.begin(), values.end()});
}

TEST(SuperblockTestProperty, PAndIntervalNeverDisagree) {
  EXPECT_TRUE(rc::check([] {
    const SuperblockTest test(draw_values());
    const double alpha = *rc::gen::element(0.01, 0.015, 0.05, 0.1);
    RC_ASSERT((test.p_value() <= alpha) == !test.interval(alpha).contains(0));
  }));
}

TEST(SuperblockTestProperty, NarrowerConfidenceGivesANarrowerInterval) {
  EXPECT_TRUE(rc::check([] {
    const SuperblockTest test(draw_values());
    const Interval wide = test.interval(0.05);
    const Interval narrow = test.interval(0.2);
    RC_ASSERT(wide.low <= narrow.low);
    RC_ASSERT(narrow.high <= wide.high);
  }));
}

TEST(SuperblockTestProperty, SwappingTheArmsMirrorsTheInterval) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<PlacedValue> values = draw_values();
    std::vector<PlacedValue> swapped = values;
    for (PlacedValue& value : swapped) value.candidate = !value.candidate;
    const SuperblockTest test(values);
    const SuperblockTest mirrored(swapped);
    RC_ASSERT(std::abs(test.p_value() - mirrored.p_value()) < 1e-9);
    const Interval one = test.interval(0.1);
    const Interval other = mirrored.interval(0.1);
    RC_ASSERT(one.low == -other.high || std::abs(one.low + other.high) < 1e-6);
  }));
}

TEST(MeanP, IsThatOfAllDealsWhereTheArmsLieApart) {
  EXPECT_NEAR(mean_p(placed("ABBAAABBBABA", {1, 11, 12, 2, 3, 2, 13, 12, 11, 1, 12, 3})), 2.0 / 216,
              1e-12);
}

TEST(MeanP, DoesNotFollowTheRanksWhereAFewLargeValuesHoldTheMean) {
  // Six of eight candidates are a little lower, two much higher.
  const auto values = placed("ABBAABABBAABBABA", {100, 98, 98, 101, 100, 99, 101, 97, 130, 100, 101,
                                                  98, 131, 100, 97, 101});
  EXPECT_GT(mean_p(values), 0.05);
}

TEST(MeanP, CountsOnceWhereNoMissingValueCouldMakeSuchADistance) {
  // Peaks of sort with 1 and 8 MiB, in KiB: the lower arm is the more spread one, by 20 KiB of 4
  // MiB.
  const auto values = placed("ABBAABABBABA", {6277, 10342, 10344, 6297, 6298, 10343, 6287, 10342,
                                              10344, 6298, 10343, 6297});
  EXPECT_NEAR(mean_p(values), 2.0 / 216, 1e-12);
}

TEST(MeanP, CountsOnceWhereSkewnessAloneBringsTheStatisticDown) {
  // Logarithms of the peaks of a simulator, MiB: Welch's t is -28, Hall's is -12.
  std::vector<double> peaks = {57.5, 34.7, 34.5, 53.6, 55.8, 32.1,
                               31.7, 55.7, 31.8, 56.3, 55.5, 32.5};
  for (double& peak : peaks) peak = std::log(peak);
  EXPECT_NEAR(mean_p(placed("ABBAABBABAAB", peaks)), 2.0 / 216, 1e-12);
}

TEST(MeanP, CountsFivefoldWhereMissingValuesMayMakeTheDistance) {
  // The same with a spread that is a third of the distance.
  const auto values = placed(
      "ABBAABABBABA", {6200, 9000, 9001, 7100, 6300, 9002, 7200, 9001, 9000, 6700, 9002, 6400});
  EXPECT_NEAR(mean_p(values), 10.0 / 216, 1e-12);
}

TEST(MeanP, IsOneWhereNothingVaries) {
  EXPECT_EQ(mean_p(placed("ABBA", {5, 5, 5, 5})), 1);
}

TEST(SpreadP, SeesASpreadThatTheMiddleDoesNotHave) {
  Random random(3);
  std::vector<double> values;
  const std::string order = "ABBAABABBAABBABAABBABABAAABBABAB";
  for (const char arm : order) values.push_back(100 + (arm == 'B' ? 10 : 0.1) * random.normal());
  EXPECT_LT(spread_p(placed(order, values)), 0.01);
}

}  // namespace
}  // namespace memduel
