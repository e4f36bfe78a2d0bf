#include "analysis/growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "analysis/random.h"

namespace memduel {
namespace {

using testing::HasSubstr;

constexpr double kKiB = 1024;
constexpr const char* kMetric = "rss_growth_bytes_per_round";

std::vector<GrowthSeries> runs_of(int runs, const std::function<double(int, Random&)>& rss) {
  Random random(11);
  std::vector<GrowthSeries> all;
  for (int run = 0; run < runs; ++run) {
    GrowthSeries series;
    for (int round = 21; round <= 100; ++round) {
      series.x.push_back(round);
      series.y.push_back(rss(round, random));
    }
    all.push_back(std::move(series));
  }
  return all;
}

GrowthEstimate judge(const std::vector<GrowthSeries>& runs) {
  return judge_growth(runs, 64 * kKiB, kMetric);
}

TEST(Growth, CallsAPlantedLeakGrowingAndEstimatesIt) {
  const GrowthEstimate estimate = judge(runs_of(8, [](int round, Random& random) {
    return 200 * kMiB + 256 * kKiB * round + kMiB * random.normal();
  }));
  EXPECT_EQ(estimate.verdict, GrowthVerdict::growing);
  EXPECT_NEAR(*estimate.slope, 256 * kKiB, 8 * kKiB);
  EXPECT_LT(estimate.interval.low, 256 * kKiB);
  EXPECT_GT(estimate.interval.high, 256 * kKiB);
}

TEST(Growth, CallsALevelSeriesFlat) {
  EXPECT_EQ(
      judge(runs_of(8, [](int, Random& random) { return 200 * kMiB + kMiB * random.normal(); }))
          .verdict,
      GrowthVerdict::flat);
}

TEST(Growth, CallsGrowthBelowTheMarginFlat) {
  EXPECT_EQ(judge(runs_of(8,
                          [](int round, Random& random) {
                            return 200 * kMiB + 16 * kKiB * round + 100 * kKiB * random.normal();
                          }))
                .verdict,
            GrowthVerdict::flat);
}

TEST(Growth, CallsASaturatingWarmUpSettling) {
  EXPECT_EQ(judge(runs_of(8,
                          [](int round, Random& random) {
                            return 240 * kMiB - 40 * kMiB * std::exp(-round / 20.0) +
                                   0.5 * kMiB * random.normal();
                          }))
                .verdict,
            GrowthVerdict::settling);
}

TEST(Growth, CallsSingleJumpsStepped) {
  EXPECT_EQ(judge(runs_of(8,
                          [](int round, Random& random) {
                            return 200 * kMiB + (round > 60 ? 64 * kMiB : 0) +
                                   0.5 * kMiB * random.normal();
                          }))
                .verdict,
            GrowthVerdict::stepped);
}

TEST(Growth, CannotTellBelowSixRuns) {
  const GrowthEstimate estimate =
      judge(runs_of(5, [](int round, Random&) { return 200 * kMiB + kMiB * round; }));
  EXPECT_EQ(estimate.verdict, GrowthVerdict::inconclusive);
  EXPECT_THAT(estimate.reason, HasSubstr("5 of 6 runs"));
  EXPECT_NEAR(*estimate.slope, kMiB, 1);
}

TEST(Growth, IsInconclusiveWhenTheIntervalHoldsZeroAndTheMargin) {
  const GrowthEstimate estimate = judge(
      runs_of(6, [](int, Random& random) { return 200 * kMiB + 60 * kMiB * random.normal(); }));
  EXPECT_EQ(estimate.verdict, GrowthVerdict::inconclusive);
  EXPECT_THAT(estimate.reason, HasSubstr("run more rounds"));
}

TEST(Growth, ThreeRoundsDoNotTellGrowthFromWarmUpAndFourDo) {
  const auto runs_of_rounds = [](int rounds) {
    auto runs = runs_of(8, [](int round, Random&) { return 200 * kMiB + kMiB * round; });
    for (GrowthSeries& run : runs) {
      run.x.resize(static_cast<size_t>(rounds));
      run.y.resize(static_cast<size_t>(rounds));
    }
    return runs;
  };
  const GrowthEstimate three = judge(runs_of_rounds(3));
  EXPECT_EQ(three.verdict, GrowthVerdict::inconclusive);
  EXPECT_THAT(three.reason, HasSubstr("from a warm-up that goes on: run more rounds"));
  EXPECT_NEAR(three.interval.low, kMiB, 1);
  EXPECT_EQ(judge(runs_of_rounds(4)).verdict, GrowthVerdict::growing);
}

TEST(Meeting, WithALimitIsWhereTheSlopeSays) {
  // 100 MiB in round 100 and 1 MiB per round: 1124 MiB in round 1124.
  const auto runs = runs_of(8, [](int round, Random&) { return kMiB * round; });
  const GrowthEstimate estimate = judge(runs);
  const auto meeting = meeting_with(1124 * kMiB, estimate, runs);
  ASSERT_TRUE(meeting);
  EXPECT_NEAR(meeting->at, 1124, 1e-6);
  EXPECT_NEAR(*meeting->low, 1124, 1e-6);
  EXPECT_NEAR(*meeting->high, 1124, 1e-6);
}

TEST(Meeting, WithALimitNeedsGrowth) {
  const auto runs =
      runs_of(8, [](int, Random& random) { return 200 * kMiB + kMiB * random.normal(); });
  EXPECT_FALSE(meeting_with(1e12, judge(runs), runs));
}

}  // namespace
}  // namespace memduel
