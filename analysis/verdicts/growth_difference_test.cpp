#include "analysis/verdicts/growth_difference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/verdicts/comparison.h"
#include "analysis/verdicts/verdict.h"
#include "base/byte_units.h"

namespace memduel {
namespace {

const TrialSlopes kOfBaseline{{317.2, 317.6, 224.0, 234.6, 312.6, 317.0}, 0};
const TrialSlopes kOfCandidate{{528.7, 508.4, 447.6, 545.3, 519.5, 602.2}, 0};

GrowthEstimate estimate_of(std::vector<double> slopes, double matters, GrowthVerdict verdict) {
  GrowthEstimate estimate;
  estimate.trials.values = std::move(slopes);
  estimate.slope = estimate.trials.mean();
  estimate.interval = estimate.trials.interval(0.05);
  estimate.matters = matters;
  estimate.verdict = verdict;
  return estimate;
}

/// A row of growth whose values had the label and the p of a rank test.
MeasuredRow row_of(const GrowthEstimate& baseline, const GrowthEstimate& candidate,
                   std::optional<double> noise_floor = std::nullopt) {
  RowValues values;
  values.baseline = baseline.trials.values;
  values.candidate = candidate.trials.values;
  MeasuredRow row = measure_row(metric_info(kRssGrowthPerRound), values, Design::unpaired, {});
  take_growth(row, baseline, candidate, noise_floor);
  row.comparison.p_adjusted = row.comparison.p_value;
  decide(row, 0.05, 1, {});
  return row;
}

TEST(GrowthDifference, IsWelchsTestOfTheTrialsSlopes) {
  const SlopeDifference difference = slope_difference(kOfBaseline, kOfCandidate);
  EXPECT_NEAR(difference.value, 238.116667, 1e-6);
  EXPECT_NEAR(difference.error, 27.56813, 1e-5);
  EXPECT_NEAR(difference.freedom, 9.875178, 1e-5);
  EXPECT_NEAR(difference.p_value(), 6.5027e-06, 1e-9);
  EXPECT_NEAR(difference.interval(0.05).low, 176.5856, 1e-3);
  EXPECT_NEAR(difference.interval(0.05).high, 299.6477, 1e-3);
}

TEST(GrowthDifference, PAndIntervalNeverDisagree) {
  for (const double apart : {0.0, 1.0, 2.0, 3.0, 40.0, 60.0}) {
    for (const double resolution : {0.0, 1.5, 30.0}) {
      TrialSlopes candidate = kOfBaseline;
      for (double& slope : candidate.values) slope += apart;
      candidate.resolution = resolution;
      const SlopeDifference difference = slope_difference(kOfBaseline, candidate);
      EXPECT_EQ(difference.p_value() <= 0.05, !difference.interval(0.05).contains(0))
          << apart << " " << resolution;
    }
  }
}

TEST(GrowthDifference, TrialsThatAgreeStillLeaveWhatReadingsCannotTellApart) {
  const SlopeDifference difference = slope_difference({{10, 10, 10}, 2}, {{14, 14, 14}, 2});
  EXPECT_EQ(difference.interval(0.05).low, 0);
  EXPECT_EQ(difference.interval(0.05).high, 8);
  EXPECT_EQ(difference.p_value(), 1);
}

TEST(GrowthDifference, TwoTrialsOfAVariantDecideNothing) {
  const SlopeDifference difference = slope_difference(kOfBaseline, {{1, 2}, 0});
  EXPECT_EQ(difference.p_value(), 1);
  EXPECT_TRUE(std::isinf(difference.interval(0.05).high));
}

TEST(GrowthDifference, TakesTheNameOfItsMethodToo) {
  const MeasuredRow row = row_of(estimate_of({1 * kMiB, 1.1 * kMiB, 1.2 * kMiB, 1 * kMiB, 1 * kMiB},
                                             64, GrowthVerdict::growing),
                                 estimate_of({3 * kMiB, 3.1 * kMiB, 3.2 * kMiB, 3 * kMiB, 3 * kMiB},
                                             64, GrowthVerdict::growing));
  EXPECT_EQ(row.comparison.test, kWelch);
  EXPECT_FALSE(row.comparison.exact);
  EXPECT_NEAR(*row.comparison.difference, 2 * kMiB, 1);
  EXPECT_EQ(row.comparison.verdict, Verdict::regressed);
}

TEST(GrowthDifference, BelowItsMarginOrNoiseFloorIsNoChange) {
  const auto baseline = estimate_of({10, 11, 12, 10, 11}, 64, GrowthVerdict::flat);
  const auto candidate = estimate_of({40, 41, 42, 41, 40}, 64, GrowthVerdict::growing);
  EXPECT_EQ(row_of(baseline, candidate).comparison.verdict, Verdict::inconclusive);
  const auto more = estimate_of({140, 141, 142, 141, 140}, 64, GrowthVerdict::growing);
  EXPECT_EQ(row_of(baseline, more).comparison.verdict, Verdict::regressed);
  EXPECT_EQ(row_of(baseline, more, 200).comparison.verdict, Verdict::inconclusive);
}

TEST(GrowthDifference, UnchangedIsShownByTheIntervalThatIsPrinted) {
  const auto alike = estimate_of({10, 11, 12, 10, 11}, 64, GrowthVerdict::flat);
  const MeasuredRow unchanged = row_of(alike, alike);
  EXPECT_EQ(unchanged.comparison.verdict, Verdict::unchanged);
  EXPECT_EQ(unchanged.comparison.confidence, 0.9);
  EXPECT_LE(*unchanged.comparison.ci_high, 64);
  // Bounded both, but so much apart that the interval leaves the margin.
  const auto spread = estimate_of({10, 200, -150, 90, 11}, 64, GrowthVerdict::flat);
  EXPECT_EQ(row_of(alike, spread).comparison.verdict, Verdict::inconclusive);
}

}  // namespace
}  // namespace memduel
