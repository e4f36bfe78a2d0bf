#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "stats/hypothesis_tests.h"
#include "stats/samples.h"
#include "stats/trial_order.h"

namespace memduel {
namespace {

/// Values in the order in which the trials ran; candidates are marked with B.
PlacedValues placed(const std::string& order, const std::vector<double>& values) {
  PlacedValues all;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int superblock = static_cast<int>(i / 4);
    all.values.push_back(
        {values[i], order[i] == 'B', superblock, static_cast<int>(i / 2), i % 2 == 0 ? -0.5 : 0.5});
  }
  all.swaps = swaps_within_superblocks(all.values);
  return all;
}

/// P of a sum of doubled ranks, of which so many of each superblock are dealt to the candidate.
struct DealtRanks {
  std::vector<int> ranks;
  int candidates = 0;
};

double dealt_rank_p(const std::vector<DealtRanks>& superblocks, int t) {
  std::vector<PlacedValue> values;
  std::vector<int> ranks;
  for (std::size_t s = 0; s < superblocks.size(); ++s)
    for (std::size_t i = 0; i < superblocks[s].ranks.size(); ++i) {
      ranks.push_back(superblocks[s].ranks[i]);
      values.push_back(
          {0, i < static_cast<std::size_t>(superblocks[s].candidates), static_cast<int>(s), 0, 0});
    }
  return swapped_rank_p(swaps_within_superblocks(values), ranks, t);
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
  EXPECT_EQ(dealt_rank_p(all, largest), 2.0 / 216);
  all.push_back({{rank + 2, rank + 4}, 1});
  EXPECT_NEAR(dealt_rank_p(all, largest + rank + 4), 2.0 / 432, 1e-12);
}

TEST(SwapTest, ArmsThatLieApartHaveTheSmallestPOfTheirSize) {
  std::vector<double> values;
  const std::string order = "ABBAAABBBABA";
  for (std::size_t i = 0; i < order.size(); ++i)
    values.push_back((order[i] == 'B' ? 100 : 0) + 0.1 * static_cast<double>(i * i % 7));
  const SwapTest test(placed(order, values));
  EXPECT_NEAR(test.p_value(), 2.0 / 216, 1e-12);
  EXPECT_NEAR(test.estimate(), 100, 1);
  EXPECT_FALSE(test.interval(0.01).contains(0));
  EXPECT_TRUE(test.interval(0.009).contains(0));
}

TEST(SwapTest, TakesOutWhatAPlaceDoesToATrial) {
  // Without noise but for the place: second neighbours are 50 higher, the candidate 1.
  std::vector<double> values;
  const std::string order = "ABBABBAAABAB";
  for (std::size_t i = 0; i < order.size(); ++i)
    values.push_back((order[i] == 'B' ? 1 : 0) + (i % 2 == 1 ? 50 : 0) +
                     0.001 * static_cast<double>(i * i % 11));
  const SwapTest test(placed(order, values));
  EXPECT_NEAR(test.estimate_without_places(), 1, 0.05);
  EXPECT_LT(test.p_value(), 0.05);
}

TEST(SwapTest, AFailedCandidateIsWorseThanAnyValue) {
  const double dead = INFINITY;
  const SwapTest test(
      placed("ABBAAABBBABA", {1, dead, dead, 2, 1, 2, dead, dead, dead, 2, dead, 1}));
  EXPECT_NEAR(test.p_value(), 2.0 / 216, 1e-12);
}

TEST(PlaceRule, LooksAtNoLabels) {
  const std::vector<double> values = {3, 9, 4, 8, 2, 7, 5, 11};
  const PlaceRule one(placed("ABBAABAB", values));
  const PlaceRule other(placed("AABBBBAA", values));
  EXPECT_DOUBLE_EQ(one.effect().base, (6 + 4 + 5 + 6) / 4.0);
  EXPECT_DOUBLE_EQ(other.effect().base, one.effect().base);
  EXPECT_DOUBLE_EQ(other.p_value(0), one.p_value(0));
}

TEST(PlaceRule, ActsFromATwentyPercentTTestOn) {
  // Differences 6, 4, 5, 6: mean 5.25, standard error sqrt(11/12)/2, so t = 10.97 and p = 0.0016.
  const PlaceRule strong(placed("ABBAABAB", {3, 9, 4, 8, 2, 7, 5, 11}));
  EXPECT_NEAR(strong.p_value(0), 0.001622, 2e-6);
  EXPECT_TRUE(strong.acts(0));
  // 6, -5, 5, 1: t = 0.7 and p = 0.53.
  EXPECT_FALSE(PlaceRule(placed("ABBAABAB", {3, 9, 9, 4, 2, 7, 10, 11})).acts(0));
  PlacedValues kept = placed("ABBAABAB", {3, 9, 4, 8, 2, 7, 5, 11});
  kept.removes_places = false;
  EXPECT_FALSE(PlaceRule(kept).acts(0));
}

TEST(PlaceRule, ChangesAtItsBorders) {
  const PlaceRule rule(placed("ABABBAABABAB", {3, 9, 4, 8, 8, 5, 5, 11, 3, 9, 1, 6}));
  const std::vector<double> borders = rule.borders();
  ASSERT_EQ(borders.size(), 2U);
  for (const double at : borders) {
    EXPECT_NEAR(rule.p_value(at), PlaceRule::kPlaceLevel, 1e-9);
    EXPECT_NE(rule.acts(at - 1e-6), rule.acts(at + 1e-6));
  }
}

/// 5 to 12 blocks, with ties and without.
PlacedValues draw_values() {
  const auto blocks = *rc::gen::inRange(5, 13);
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

TEST(SwapTestProperty, PAndIntervalNeverDisagree) {
  EXPECT_TRUE(rc::check([] {
    const SwapTest test(draw_values());
    const double alpha = *rc::gen::element(0.01, 0.015, 0.05, 0.1);
    RC_ASSERT((test.p_value() <= alpha) == !test.interval(alpha).contains(0));
  }));
}

/// p at a shift, by its definition.
double p_at(const SwapTest& test, double shift) {
  const std::vector<int> ranks = test.ranks_at(shift);
  int t = 0;
  for (const LabelSwaps& segment : test.values().swaps)
    for (const std::size_t i : segment.values)
      if (test.values().values[i].candidate) t += ranks[i];
  return swapped_rank_p(test.values().swaps, ranks, t);
}

TEST(SwapTestProperty, NoShiftOutsideTheIntervalHasALargerP) {
  EXPECT_TRUE(rc::check([] {
    const SwapTest test(draw_values());
    const double alpha = *rc::gen::element(0.01, 0.05, 0.1, 0.3);
    const Interval interval = test.interval(alpha);
    for (const double away : {1e-3, 0.5, 1.5, 20.5}) {
      for (const double outside : {interval.low - away, interval.high + away})
        RC_ASSERT(std::isinf(outside) || p_at(test, outside) <= alpha);
    }
  }));
}

TEST(SwapTestProperty, NarrowerConfidenceGivesANarrowerInterval) {
  EXPECT_TRUE(rc::check([] {
    const SwapTest test(draw_values());
    const Interval wide = test.interval(0.05);
    const Interval narrow = test.interval(0.2);
    RC_ASSERT(wide.low <= narrow.low);
    RC_ASSERT(narrow.high <= wide.high);
  }));
}

TEST(SwapTestProperty, SwappingTheArmsMirrorsTheInterval) {
  EXPECT_TRUE(rc::check([] {
    const PlacedValues values = draw_values();
    PlacedValues swapped = values;
    for (PlacedValue& value : swapped.values) value.candidate = !value.candidate;
    const SwapTest test(values);
    const SwapTest mirrored(swapped);
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
