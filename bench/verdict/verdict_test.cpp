#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis_steps.h"
#include "stats/estimates.h"
#include "support/test_data.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

using testing::HasSubstr;

MeasuredRow verdict_row(const std::string& metric, std::vector<double> a, std::vector<double> b,
                        std::optional<double> noise_floor = std::nullopt) {
  RowValues values;
  values.baseline = std::move(a);
  values.candidate = std::move(b);
  return measure_row({metric_info(metric), Design::paired, noise_floor}, std::move(values));
}

DecidedRow decided(MeasuredRow row, double alpha = 0.05, int family = 1) {
  RowLevel level{alpha, family};
  if (row.p_value) level.p_adjusted = std::min(1.0, *row.p_value * family);
  return decide(std::move(row), level);
}

/// Eight values around `center` MiB with a spread of about `share`.
std::vector<double> around(double center, double share) {
  std::vector<double> values;
  for (const double z : {-1.2, 0.3, 0.9, -0.4, 0.1, 1.4, -0.8, 0.5}) {
    values.push_back(center * kMiB * (1 + share * z));
  }
  return values;
}

std::vector<double> turned(std::vector<double> values) {
  std::rotate(values.begin(), values.begin() + 3, values.end());
  return values;
}

TEST(Verdict, IsStrongWhenTheWholeIntervalClearsTheMargin) {
  const DecidedRow row =
      decided(verdict_row("peak_rss_bytes", around(200, 0.002), turned(around(210, 0.002))));
  EXPECT_EQ(row.comparison.verdict, Verdict::regressed);
  EXPECT_EQ(row.comparison.tier, Tier::strong);
  EXPECT_GE(*row.comparison.ci_low, 1.01);
}

TEST(Verdict, OfARowThatTheCorrectionLeavesOpenHasAnIntervalWithNoChangeInIt) {
  const auto row_of = [](int family) {
    return decided(verdict_row("peak_rss_bytes", around(200, 0.02), turned(around(206, 0.02))),
                   0.05, family);
  };
  const DecidedRow alone = row_of(1);
  EXPECT_EQ(alone.comparison.verdict, Verdict::regressed);
  EXPECT_GT(*alone.comparison.ci_low, 1);
  const DecidedRow corrected = row_of(3);
  EXPECT_EQ(corrected.comparison.verdict, Verdict::inconclusive);
  EXPECT_LE(*corrected.comparison.ci_low, 1);
  EXPECT_NEAR(corrected.comparison.confidence, 1 - 0.05 / 3, 1e-12);
  // The smallest p of eight pairs is 2 / 2^8 = 0.008, so no interval is finite at that level.
  const DecidedRow without = row_of(1000);
  EXPECT_GT(*without.comparison.ci_low, 1);
  EXPECT_EQ(without.comparison.confidence, 0.95);
}

TEST(Verdict, IsPlainWhenTheIntervalReachesInsideTheMargin) {
  const DecidedRow row =
      decided(verdict_row("peak_rss_bytes", around(200, 0.006), turned(around(202.8, 0.006))));
  EXPECT_EQ(row.comparison.verdict, Verdict::regressed);
  EXPECT_EQ(row.comparison.tier, Tier::plain);
}

TEST(Verdict, OfAMetricWithoutADirectionIsThatItChanged) {
  MetricInfo info = metric_info("throughput");
  ASSERT_EQ(info.better, Direction::undeclared);
  const auto row_of = [&](std::vector<double> a, std::vector<double> b) {
    RowValues values;
    values.baseline = std::move(a);
    values.candidate = std::move(b);
    return decided(measure_row({info}, std::move(values)));
  };
  for (const double center : {210.0, 190.0}) {
    const DecidedRow row = row_of(around(200, 0.002), turned(around(center, 0.002)));
    EXPECT_EQ(row.comparison.verdict, Verdict::changed);
    EXPECT_EQ(row.comparison.tier, Tier::strong);
    EXPECT_THAT(row.comparison.reason,
                HasSubstr("whether higher or lower values are better is not declared"));
  }
  EXPECT_EQ(row_of(around(200, 0.002), turned(around(200, 0.002))).comparison.verdict,
            Verdict::unchanged);
  EXPECT_EQ(row_of(around(200, 0.02), turned(around(201, 0.02))).comparison.verdict,
            Verdict::inconclusive);
  info.better = Direction::higher;
  EXPECT_EQ(row_of(around(200, 0.002), turned(around(210, 0.002))).comparison.verdict,
            Verdict::improved);
  info.better = Direction::lower;
  EXPECT_EQ(row_of(around(200, 0.002), turned(around(210, 0.002))).comparison.verdict,
            Verdict::regressed);
}

TEST(Verdict, OfADeadCandidateIsRegressedWhateverIsBetter) {
  for (const Direction better : {Direction::undeclared, Direction::lower, Direction::higher}) {
    MetricInfo info = metric_info("throughput");
    info.better = better;
    RowValues values;
    values.baseline = std::vector<double>(8, 100);
    values.candidate = std::vector<double>(8, better == Direction::higher
                                                  ? -std::numeric_limits<double>::infinity()
                                                  : std::numeric_limits<double>::infinity());
    values.candidate_failed = 8;
    const DecidedRow row = decided(measure_row({info}, std::move(values)));
    EXPECT_EQ(row.comparison.verdict, Verdict::regressed);
  }
}

TEST(Verdict, TurnsRoundForAMetricOfWhichMoreIsBetter) {
  std::vector<double> worse(8);
  std::vector<double> better(8);
  for (size_t i = 0; i < 8; ++i) {
    worse[i] = 0.80 + 0.001 * static_cast<double>(i);
    better[i] = 0.90 + 0.001 * static_cast<double>(i);
  }
  EXPECT_EQ(decided(verdict_row("validation_accuracy_ratio", worse, better)).comparison.verdict,
            Verdict::improved);
  EXPECT_EQ(decided(verdict_row("validation_accuracy_ratio", better, worse)).comparison.verdict,
            Verdict::regressed);
}

TEST(Verdict, NeedsTheCorrectedPNotOnlyThePlainOne) {
  const DecidedRow row = decided(
      verdict_row("peak_rss_bytes", around(200, 0.002), turned(around(210, 0.002))), 0.05, 10);
  EXPECT_EQ(row.comparison.verdict, Verdict::inconclusive);
  EXPECT_THAT(row.comparison.reason, HasSubstr("correction for 10 comparisons"));
}

TEST(Verdict, SaysUnchangedOnlyInsideTheMargin) {
  EXPECT_EQ(decided(verdict_row("peak_rss_bytes", around(200, 0.002), turned(around(200, 0.002))))
                .comparison.verdict,
            Verdict::unchanged);
  EXPECT_EQ(decided(verdict_row("peak_rss_bytes", around(200, 0.05), turned(around(200, 0.05))))
                .comparison.verdict,
            Verdict::inconclusive);
}

TEST(Verdict, CallsARealButTinyChangeUnchanged) {
  const DecidedRow row =
      decided(verdict_row("peak_rss_bytes", around(200, 0.0005), turned(around(200.8, 0.0005))));
  EXPECT_EQ(row.comparison.verdict, Verdict::unchanged);
  EXPECT_THAT(row.comparison.reason, HasSubstr("significant but negligible"));
}

TEST(Verdict, UsesTheAbsoluteFloorOfSmallValues) {
  // 20 MiB: the floor of 1 MiB is 5%, so that 3% more is inside.
  const DecidedRow row =
      decided(verdict_row("peak_rss_bytes", around(20, 0.001), turned(around(20.6, 0.001))));
  EXPECT_NEAR(row.comparison.margin, 0.05, 0.001);
  EXPECT_EQ(row.comparison.verdict, Verdict::unchanged);
}

TEST(Verdict, ScalesTheAbsoluteMarginOfSmallPrograms) {
  // 1 MiB would be 26% of 3.9 MiB.
  const DecidedRow row =
      decided(verdict_row("peak_rss_bytes", around(3.9, 0.001), turned(around(4.2, 0.001))));
  EXPECT_NEAR(row.comparison.margin, 0.05, 1e-12);
  EXPECT_EQ(row.comparison.verdict, Verdict::regressed);
}

TEST(Verdict, ANoiseFloorMakesNothingUnchanged) {
  const DecidedRow row =
      decided(verdict_row("peak_rss_bytes", around(200, 0.001), turned(around(204, 0.001)), 0.03));
  EXPECT_NEAR(row.comparison.margin, 0.01, 1e-12);
  EXPECT_EQ(row.comparison.verdict, Verdict::inconclusive);
}

TEST(Verdict, FallsBackToDifferencesForValuesThatAreNotPositive) {
  const DecidedRow row = decided(verdict_row("peak_rss_above_idle_bytes", {0, 1, 2, 3, 4, 5, 6, 7},
                                             std::vector<double>(8, 9)));
  EXPECT_FALSE(row.comparison.ratio);
  EXPECT_DOUBLE_EQ(*row.comparison.difference, 5.5);
  EXPECT_DOUBLE_EQ(row.comparison.margin, kMiB / 16);
  EXPECT_EQ(row.comparison.verdict, Verdict::unchanged);
}

TEST(Verdict, ComparesGrowthAsADifference) {
  std::vector<double> level;
  std::vector<double> leaking;
  for (int i = 0; i < 8; ++i) {
    level.push_back(1024.0 * (i - 4));
    leaking.push_back(200 * 1024.0 + 1024.0 * i);
  }
  const DecidedRow row = decided(verdict_row("rss_growth_bytes_per_round", level, leaking));
  EXPECT_FALSE(row.comparison.ratio);
  EXPECT_EQ(row.comparison.verdict, Verdict::regressed);
  EXPECT_DOUBLE_EQ(row.comparison.margin, 65536);
}

TEST(Verdict, TakesAllEqualValuesForUnchanged) {
  const std::vector<double> same(8, 200 * kMiB);
  EXPECT_EQ(decided(verdict_row("peak_rss_bytes", same, same)).comparison.verdict,
            Verdict::unchanged);
}

TEST(Verdict, TestsAnExactMetricThatVariesAfterAll) {
  std::vector<double> varied = around(200, 0.002);
  const DecidedRow row =
      decided(verdict_row("peak_heap_bytes", std::vector<double>(8, 200 * kMiB), varied));
  EXPECT_FALSE(row.comparison.exact);
  EXPECT_TRUE(row.comparison.p_value);
}

DecidedRow shown(const std::string& metric, Verdict verdict) {
  DecidedRow row;
  row.comparison.candidate = "b";
  row.comparison.metric = metric;
  row.comparison.verdict = verdict;
  return row;
}

std::vector<std::string> told(std::vector<DecidedRow> rows) {
  put_in_telling_order(rows);
  std::vector<std::string> metrics;
  for (const DecidedRow& row : rows) metrics.push_back(row.comparison.metric);
  return metrics;
}

TEST(TellingOrder, PutsExactChangesBeforeGatesAndGatesBeforeTheRest) {
  std::vector<DecidedRow> rows = {
      shown("peak_rss_bytes", Verdict::regressed), shown("round_seconds", Verdict::inconclusive),
      shown("allocation_count", Verdict::unchanged), shown("allocated_bytes", Verdict::regressed)};
  rows[1].comparison.gate = true;
  rows[2].comparison.exact = rows[3].comparison.exact = true;
  EXPECT_THAT(told(rows), testing::ElementsAre("allocated_bytes", "round_seconds", "peak_rss_bytes",
                                               "allocation_count"));
}

TEST(TellingOrder, LeavesEachCandidateItsPlace) {
  std::vector<DecidedRow> rows = {shown("peak_rss_bytes", Verdict::regressed),
                                  shown("allocated_bytes", Verdict::regressed)};
  rows[0].comparison.candidate = "first";
  rows[1].comparison.exact = true;
  EXPECT_THAT(told(rows), testing::ElementsAre("peak_rss_bytes", "allocated_bytes"));
}

}  // namespace
}  // namespace memduel
