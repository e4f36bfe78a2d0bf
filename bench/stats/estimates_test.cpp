#include "stats/estimates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/samples.h"
#include "support/test_data.h"

namespace memduel {
namespace {

using Values = std::vector<double>;

TEST(TheilSenAgainstSciPy, GivesTheSlope) {
  for (const auto& expected : test_data("sign_flip.json").at("theil_sen")) {
    const Values x = expected.at("x");
    const Values y = expected.at("y");
    EXPECT_NEAR(*theil_sen_slope(x, y), expected.at("slope").get<double>(), 1e-12);
  }
}

TEST(TheilSen, HasNoSlopeWithoutTwoDistinctPlaces) {
  const Values x = {3, 3};
  const Values y = {1, 2};
  EXPECT_FALSE(theil_sen_slope(x, y));
}

TEST(TheilSen, KeepsTheSlopeOfALongSeries) {
  Values x;
  Values y;
  for (int i = 0; i < 25000; ++i) {
    x.push_back(i);
    y.push_back(1e9 + 4096.0 * i + (i % 7) * 1e5);
  }
  EXPECT_NEAR(*theil_sen_slope(x, y), 4096, 1);
}

TEST(Summarized, HasTheSampleStandardDeviation) {
  EXPECT_FALSE(summarized({}));
  EXPECT_FALSE(summarized({3})->stddev);
  const SampleSummary summary = *summarized({4, 1, 2});
  EXPECT_EQ(summary.count, 3U);
  EXPECT_DOUBLE_EQ(summary.mean, 7.0 / 3);
  EXPECT_DOUBLE_EQ(summary.stddev.value(), std::sqrt(7.0 / 3)) << "squares sum up to 14/3";
  EXPECT_EQ(summary.median, 2);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.max, 4);
}

TEST(FindModes, FindsTheRunsWithOneMoreArena) {
  const std::vector<Mode> modes =
      find_modes(std::vector<double>{540, 604, 541, 539, 540.5, 605, 542, 538, 604.5});
  ASSERT_EQ(modes.size(), 2U);
  EXPECT_EQ(modes[0].count, 6);
  EXPECT_EQ(modes[1].count, 3);
  EXPECT_NEAR(modes[1].median, 604.5, 1e-9);
}

TEST(FindModes, ASingleTrialBesideTwoModesIsNoThird) {
  const std::vector<Mode> modes =
      find_modes(std::vector<double>{95.4, 103.9, 104, 104.1, 103.8, 116.4, 116.3, 116.5});
  ASSERT_EQ(modes.size(), 2U);
  EXPECT_EQ(modes[0].count, 4);
  EXPECT_EQ(modes[1].count, 3);
}

TEST(FindModes, TwoTrialsAreNoMode) {
  EXPECT_TRUE(find_modes(std::vector<double>{540, 604, 541, 539, 540.5, 605, 542, 538}).empty());
}

TEST(FindModes, RarelyFindsAnyInNormalNoise) {
  Random random(5);
  int found = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> values;
    for (int k = 0; k < 12; ++k) values.push_back(540 * (1 + 0.01 * random.normal()));
    found += static_cast<int>(!find_modes(values).empty());
  }
  EXPECT_LE(found, 50);
}

TEST(FindModes, FindsNoneInOneOutlierOrInEqualValues) {
  EXPECT_TRUE(find_modes(std::vector<double>{540, 541, 540, 541, 700}).empty());
  EXPECT_TRUE(find_modes(std::vector<double>{5, 5, 5, 5, 5}).empty());
}

TEST(MeanInterval, IsStudentsT) {
  // t of 4 degrees of freedom at 97.5% is 2.776445; the standard error of 1 … 5 is sqrt(0.5).
  const MeanInterval of = mean_interval(std::vector<double>{1, 2, 3, 4, 5}, 0.05);
  EXPECT_DOUBLE_EQ(of.mean, 3);
  EXPECT_NEAR(of.interval.low, 3 - 2.776445 * std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(of.interval.high, 3 + 2.776445 * std::sqrt(0.5), 1e-6);
  const MeanInterval of_two = mean_interval(std::vector<double>{-1, 1}, 0.05);
  EXPECT_NEAR(of_two.interval.high, 12.706205, 1e-6);
  EXPECT_EQ(mean_interval(std::vector<double>{7, 7}, 0.05).interval.low, 7);
}

TEST(Tail, CountsDistinctValues) {
  const Tail of = tail(std::vector<double>{3, 1, 3, 3});
  EXPECT_EQ(of.maximum, 3);
  ASSERT_EQ(of.distinct.size(), 2U);
  EXPECT_EQ(of.distinct[0].value, 1);
  EXPECT_EQ(of.distinct[0].count, 1);
  EXPECT_EQ(of.distinct[1].count, 3);
}

TEST(ExceedanceBound, FollowsTheClosedFormAfterNone) {
  for (const int n : {5, 10, 29, 59}) {
    EXPECT_NEAR(exceedance_bound(0, n), 1 - std::pow(0.05, 1.0 / n), 1e-12);
  }
  EXPECT_EQ(exceedance_bound(4, 4), 1);
}

}  // namespace
}  // namespace memduel
