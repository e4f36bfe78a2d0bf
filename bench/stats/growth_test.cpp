#include "stats/growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "growth_shapes.h"
#include "stats/samples.h"
#include "support/test_data.h"

namespace memduel {
namespace {

using testing::HasSubstr;

constexpr double kKiB = 1024;

std::vector<GrowthSeries> runs_of(int runs, const std::function<double(int, Random&)>& rss) {
  Random random(12);
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
  return judge_growth(runs, {100, 0.05, 4096});
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

TEST(Growth, CallsALineOfThreeRunsGrowingThoughTheyAgreeOnASlightBend) {
  // 6 MiB a round, of which the runs lose about `share` by the last round: one-sided p .04 over
  // three.
  const auto judged = [](double share) {
    Random random(12);
    std::vector<GrowthSeries> runs(3);
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const double lost = share * std::array{0.6, 1.0, 1.8}.at(run);
      for (int round = 0; round < 80; ++round) {
        runs[run].x.push_back(round + 21);
        runs[run].y.push_back(200 * kMiB + 6 * kMiB * round * (1 - lost * round / 79 / 2) +
                              0.1 * kMiB * random.normal());
      }
    }
    return judge(runs).verdict;
  };
  EXPECT_EQ(judged(0.01), GrowthVerdict::growing);
  EXPECT_NE(judged(0.5), GrowthVerdict::growing);
}

TEST(Growth, CallsALevelSeriesFlat) {
  EXPECT_EQ(
      judge(runs_of(8, [](int, Random& random) { return 200 * kMiB + kMiB * random.normal(); }))
          .verdict,
      GrowthVerdict::flat);
}

TEST(Growth, WhatMattersIsAddedByTheHorizon) {
  const auto runs = runs_of(8, [](int round, Random& random) {
    return 200 * kMiB + 16 * kKiB * round + 100 * kKiB * random.normal();
  });
  EXPECT_EQ(judge_growth(runs, {100, 0.05, 4096}).verdict, GrowthVerdict::flat) << "1.6 MiB";
  EXPECT_EQ(judge_growth(runs, {1000, 0.05, 4096}).verdict, GrowthVerdict::growing) << "16 MiB";
  const GrowthEstimate far = judge_growth(runs, {1e6, 0.05, 4096});
  EXPECT_EQ(far.horizon, 1000) << "nothing is said beyond ten times the rounds";
}

TEST(Growth, CallsASaturatingWarmUpSettling) {
  EXPECT_EQ(judge(runs_of(8,
                          [](int round, Random& random) {
                            return 240 * kMiB - 40 * kMiB * std::exp(-round / 20.0) +
                                   0.5 * kMiB * random.normal();
                          }))
                .verdict,
            GrowthVerdict::leveling_off);
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

TEST(Growth, CannotTellBelowThreeRuns) {
  const GrowthEstimate estimate =
      judge(runs_of(2, [](int round, Random&) { return 200 * kMiB + kMiB * round; }));
  EXPECT_EQ(estimate.verdict, GrowthVerdict::inconclusive);
  EXPECT_THAT(estimate.reason, HasSubstr("2 of at least 3"));
  EXPECT_NEAR(*estimate.slope, kMiB, 1);
}

TEST(Growth, SaysHowManyRoundsWouldTell) {
  auto runs = runs_of(8, [](int round, Random&) { return 200 * kMiB + kMiB * round; });
  for (GrowthSeries& run : runs) {
    run.x.resize(39);
    run.y.resize(39);
  }
  const GrowthEstimate short_of_one = judge(runs);
  EXPECT_EQ(short_of_one.verdict, GrowthVerdict::inconclusive);
  EXPECT_THAT(short_of_one.reason, HasSubstr("needs about"));
  EXPECT_GT(short_of_one.rounds_needed.value_or(0), 59);
  EXPECT_EQ(rounds_to_judge_growth(1), 50);
  EXPECT_EQ(rounds_to_judge_growth(30), 70);
}

TEST(Growth, SpeaksOfSecondsWhereARunLastsLessThanAMinute) {
  // Sixty windows of 0.2 s each, 1 MiB a second.
  auto runs = runs_of(8, [](int window, Random&) { return 200 * kMiB + 0.2 * kMiB * window; });
  for (GrowthSeries& run : runs)
    for (double& x : run.x) x *= 0.2 / 60;
  GrowthQuestion question;
  question.horizon = runs[0].x.back();
  question.by_time = true;
  const GrowthEstimate estimate = judge_growth(runs, question);
  ASSERT_EQ(estimate.verdict, GrowthVerdict::growing) << estimate.reason;
  EXPECT_THAT(estimate.reason, HasSubstr("grows by 60.0 MiB per minute"));
  EXPECT_THAT(estimate.reason, testing::ContainsRegex(" over [0-9.]+ s"));
}

TEST(Growth, AnIntervalIsNeverNarrowerThanWholePagesAllow) {
  const GrowthEstimate estimate =
      judge(runs_of(8, [](int round, Random&) { return 200 * kMiB + kMiB * round; }));
  EXPECT_EQ(estimate.verdict, GrowthVerdict::growing);
  EXPECT_NEAR(estimate.interval.high - estimate.interval.low, 2 * 1.5 * 4096.0 / 79, 1e-6);
}

TEST(Growth, TheSlopesOfTheRunsGiveTheEstimateAndItsInterval) {
  for (const double warmup : {0.0, 20.0}) {
    const GrowthEstimate estimate = judge(runs_of(6, [&](int round, Random& random) {
      return 200 * kMiB + kMiB * round + warmup * kMiB * (1 - std::exp(-(round - 20) / 8.0)) +
             0.3 * kMiB * random.normal();
    }));
    ASSERT_EQ(estimate.trials.values.size(), 6U);
    double mean = 0;
    for (const double slope : estimate.trials.values) mean += slope / 6;
    double squares = 0;
    for (const double slope : estimate.trials.values) squares += (slope - mean) * (slope - mean);
    constexpr double kStudent5 = 2.570581836;  // two-sided 5%
    const double width = kStudent5 * std::sqrt(squares / 5 / 6);
    EXPECT_NEAR(*estimate.slope, mean, 1e-6 * mean);
    EXPECT_NEAR(estimate.interval.low, mean - width, 1e-6 * mean) << warmup;
    EXPECT_NEAR(estimate.interval.high, mean + width, 1e-6 * mean) << warmup;
  }
}

TEST(Growth, OfRunsAtTheirOwnPaceHoldsHowThePacesVary) {
  const auto runs = runs_of(6, [](int round, Random&) { return 200 * kMiB + kMiB * round; });
  GrowthQuestion question{80, 0.05, 4096};
  question.by_time = true;
  question.paces = {1.0, 1.0, 0.7, 0.75, 1.0, 1.0};
  const GrowthEstimate estimate = judge_growth(runs, question);
  EXPECT_NEAR(*estimate.slope, kMiB * 5.45 / 6, 1e-3 * kMiB);
  EXPECT_LT(estimate.interval.low, 0.8 * kMiB);
  EXPECT_GT(estimate.interval.high, 1.0 * kMiB);
}

TEST(Growth, NoiseCutsNoLineOfFewRoundsIntoSteps) {
  Random random(5);
  double sum = 0;
  for (int duel = 0; duel < 40; ++duel) {
    std::vector<GrowthSeries> runs(6);
    for (GrowthSeries& run : runs)
      for (int round = 4; round <= 12; ++round) {
        run.x.push_back(round);
        run.y.push_back(200 * kMiB + kMiB * round + 0.6 * kMiB * random.normal());
      }
    sum += *judge_growth(runs, {12, 0.05, 4096}).slope;
  }
  // The error of the mean: 0.6 MiB over the root of 60, the squares of nine rounds, and of 240
  // runs.
  EXPECT_NEAR(sum / 40, kMiB, 4 * 0.6 * kMiB / std::sqrt(60.0 * 240));
}

TEST(Growth, ASawtoothIsBoundedAndOneOnASlopeGrows) {
  const auto saw = [](double slope) {
    return runs_of(8, [slope](int round, Random& random) {
      return 200 * kMiB + 20 * kMiB * (round % 17) / 17 + slope * round +
             0.1 * kMiB * random.normal();
    });
  };
  EXPECT_EQ(judge(saw(0)).verdict, GrowthVerdict::flat);
  EXPECT_EQ(judge(saw(256 * kKiB)).verdict, GrowthVerdict::growing);
}

TEST(Growth, StepsThatGoOnAreGrowth) {
  const GrowthEstimate estimate = judge(runs_of(8, [](int round, Random& random) {
    return 200 * kMiB + 8 * kMiB * (round / 25) + 0.1 * kMiB * random.normal();
  }));
  EXPECT_EQ(estimate.verdict, GrowthVerdict::growing);
  EXPECT_THAT(estimate.reason, HasSubstr("steps that continue"));
}

TEST(Meeting, WithALimitIsWhereTheSlopeSays) {
  // 100 MiB in round 100, and 1 MiB per round.
  const auto runs = runs_of(8, [](int round, Random&) { return kMiB * round; });
  const GrowthEstimate estimate = judge(runs);
  const auto meeting = meeting_with(600 * kMiB, estimate, 100);
  ASSERT_TRUE(meeting);
  EXPECT_NEAR(meeting->at, 600, 1);
  EXPECT_LE(meeting->low, meeting->at);
  EXPECT_GE(meeting->high, meeting->at);
  EXPECT_FALSE(meeting_with(1200 * kMiB, estimate, 100)) << "beyond ten times the rounds";
}

TEST(Meeting, WithALimitNeedsGrowth) {
  const auto runs =
      runs_of(8, [](int, Random& random) { return 200 * kMiB + kMiB * random.normal(); });
  EXPECT_FALSE(meeting_with(1e12, judge(runs), 100));
}

TEST(KeepsRising, IsNotSaidOfASingleRunThatLevelsOff) {
  const auto rises = [](const std::function<double(int)>& level) {
    return keeps_rising(runs_of(1, [&](int round, Random& random) {
                          return level(round) + 0.2 * kMiB * random.normal();
                        }).front());
  };
  EXPECT_TRUE(rises([](int round) { return 200 * kMiB + 0.5 * kMiB * round; }));
  EXPECT_FALSE(rises([](int round) { return 200 * kMiB + kMiB * std::min(round, 46); }));
  EXPECT_FALSE(rises([](int round) { return 200 * kMiB + 20 * kMiB * (round % 37) / 37; }));
}

TEST(TrialSlopes, IntervalHoldsHowTrialsVary) {
  // MiB a minute of a real job whose rounds took longer in two of six trials; Student's
  // quantile is 2.570582 (Fisher and Yates, table III), the error of the mean 18.365142.
  const TrialSlopes slopes{{317.2, 317.6, 224.0, 234.6, 312.6, 317.0}, 0};
  EXPECT_NEAR(slopes.mean(), 287.166667, 1e-6);
  const Interval interval = slopes.interval(0.05);
  EXPECT_NEAR(interval.low, 239.9576, 1e-3);
  EXPECT_NEAR(interval.high, 334.3758, 1e-3);
}

TEST(TrialSlopes, TrialsThatAgreeLeaveWhatAReadingCannotTellApart) {
  const TrialSlopes slopes{{5, 5, 5}, 2};
  EXPECT_EQ(slopes.interval(0.05).low, 3);
  EXPECT_EQ(slopes.interval(0.05).high, 7);
}

TEST(TrialSlopes, TwoTrialsBoundNothing) {
  const TrialSlopes slopes{{5, 6}, 0};
  EXPECT_EQ(slopes.mean(), 5.5);
  EXPECT_TRUE(std::isinf(slopes.interval(0.05).low));
  EXPECT_TRUE(std::isinf(slopes.interval(0.05).high));
}

TEST(TrialSlopes, ResolutionIsTheMostThatReadingsCanDoToASlope) {
  for (const int rounds : {9, 10, 48}) {
    std::vector<double> x;
    std::vector<double> y;
    for (int round = 0; round < rounds; ++round) {
      x.push_back(round);
      y.push_back(2 * round < rounds - 1 ? -2048 : 2048);
    }
    const double most = line_slope(x, y);
    const double resolution = slope_resolution(4096, rounds - 1);
    EXPECT_LE(most, resolution) << rounds;
    EXPECT_GE(most, 0.85 * resolution) << rounds;
  }
}

}  // namespace
}  // namespace memduel
