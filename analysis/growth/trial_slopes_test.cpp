#include "analysis/growth/trial_slopes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/growth/growth_shapes.h"

namespace memduel {
namespace {

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
