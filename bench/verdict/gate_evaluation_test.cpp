#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/test_data.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

using testing::HasSubstr;

DecidedRow row_of(const std::string& metric, const std::vector<double>& a,
                  const std::vector<double>& b) {
  RowValues values;
  for (const double x : a) values.baseline.push_back(x * kMiB);
  for (const double x : b) values.candidate.push_back(x * kMiB);
  MeasuredRow row = measure_row({metric_info(metric)}, std::move(values));
  const RowLevel level{0.05, 1, row.p_value};
  return decide(std::move(row), level);
}

const std::vector<double> kA = {200, 200.4, 199.7, 200.9, 199.5, 200.2, 200.6, 199.9};
const std::vector<double> kThreeMore = {206, 206.4, 205.7, 206.9, 205.5, 206.2, 206.6, 205.9};

GateOutcome outcome(const std::string& gate, const DecidedRow& row) {
  return evaluate_gate(parse_gate(gate), subject_of(row)).outcome;
}

TEST(RelativeGate, FailsBeyondAndPassesWithinItsBound) {
  const DecidedRow row = row_of("peak_rss_bytes", kA, kThreeMore);
  EXPECT_EQ(outcome("all.peak_rss_bytes<=+2%", row), GateOutcome::failed);
  EXPECT_EQ(outcome("all.peak_rss_bytes<=+5%", row), GateOutcome::passed);
  EXPECT_EQ(outcome("all.peak_rss_bytes<=+2MiB", row), GateOutcome::failed);
  EXPECT_EQ(outcome("all.peak_rss_bytes<=+16MiB", row), GateOutcome::passed);
}

TEST(RelativeGate, IsUndecidedWhenTheBoundLiesInsideTheInterval) {
  // The pairs' ratios go from 206.9 / 200.9 = 1.02987 to 205.5 / 199.5 = 1.03008.
  EXPECT_EQ(outcome("all.peak_rss_bytes<=+3%", row_of("peak_rss_bytes", kA, kThreeMore)),
            GateOutcome::inconclusive);
}

TEST(RelativeGate, PassesForAnImprovement) {
  EXPECT_EQ(outcome("all.peak_rss_bytes<=+0%", row_of("peak_rss_bytes", kThreeMore, kA)),
            GateOutcome::passed);
}

TEST(RelativeGate, GivesTheLimitAndTheEvidenceAsItsReason) {
  const auto reason = [](const char* gate, const DecidedRow& row) {
    return evaluate_gate(parse_gate(gate), subject_of(row)).reason;
  };
  const DecidedRow more = row_of("peak_rss_bytes", kA, kThreeMore);
  EXPECT_THAT(
      reason("all.peak_rss_bytes<=+2%", more),
      testing::MatchesRegex("\\+3.0% exceeds the limit of \\+2% \\(adjusted p = 0.0[0-9]+\\)"));
  EXPECT_EQ(reason("all.peak_rss_bytes<=+16MiB", more),
            "+3.0% is within the limit of +16.0 MiB (at most +3.0% with 95% confidence)");
  const DecidedRow noisy = row_of("peak_rss_bytes", {200, 240, 180, 260, 190, 230, 210, 250},
                                  {250, 205, 235, 190, 262, 220, 255, 185});
  EXPECT_THAT(reason("all.peak_rss_bytes<=+1%", noisy),
              testing::MatchesRegex(".*% is over the limit of \\+1%, but within the noise"));
  EXPECT_THAT(
      reason("all.peak_rss_bytes<=+9%", noisy),
      testing::MatchesRegex(".*% is within the limit of \\+9%, but the 90% CI reaches .*%"));
}

// Of 200 to 150: the pairs' ratios go from 149.5 / 199.5 = 0.74937 to 150.9 / 200.9 = 0.75112.
TEST(GateOnAnImprovement, IsDecidedByTheEndsOfTheIntervalOfTheChange) {
  const DecidedRow row =
      row_of("peak_rss_bytes", kA, {150, 150.4, 149.7, 150.9, 149.5, 150.2, 150.6, 149.9});
  EXPECT_EQ(outcome("all.peak_rss_bytes<=-20%", row), GateOutcome::passed);
  EXPECT_EQ(outcome("all.peak_rss_bytes<=-25%", row), GateOutcome::inconclusive);
  EXPECT_EQ(outcome("all.peak_rss_bytes<=-30%", row), GateOutcome::failed);
  EXPECT_EQ(outcome("all.peak_rss_bytes<=-40MiB", row), GateOutcome::passed);
  EXPECT_EQ(outcome("all.peak_rss_bytes<=-60MiB", row), GateOutcome::failed);
  EXPECT_EQ(outcome("all.peak_rss_bytes<=-900MiB", row), GateOutcome::failed)
      << "more than there is";
  EXPECT_EQ(outcome("all.peak_rss_bytes<=-30%|160MiB", row), GateOutcome::passed);
}

TEST(GateOnAnImprovement, FailsWithoutAChange) {
  EXPECT_EQ(outcome("all.peak_rss_bytes<=-20%", row_of("peak_rss_bytes", kA, kA)),
            GateOutcome::failed);
  EXPECT_EQ(outcome("all.peak_rss_bytes<=-20%", row_of("peak_rss_bytes", kA, kThreeMore)),
            GateOutcome::failed);
}

TEST(GateOnAnImprovement, IsInconclusiveWhereTheIntervalHoldsTheLimit) {
  const DecidedRow noisy = row_of("peak_rss_bytes", {200, 240, 180, 260, 190, 230, 210, 250},
                                  {160, 150, 200, 140, 190, 155, 180, 145});
  const GateResult result =
      evaluate_gate(parse_gate("all.peak_rss_bytes<=-20%"), subject_of(noisy));
  EXPECT_EQ(result.outcome, GateOutcome::inconclusive);
  EXPECT_THAT(result.reason,
              testing::MatchesRegex(
                  "-2[0-9].[0-9]% meets the limit of -20%, but the 90% CI reaches -[0-9.]+%"));
  EXPECT_FALSE(result.beyond_bound);
  EXPECT_TRUE(
      evaluate_gate(parse_gate("all.peak_rss_bytes<=-30%"), subject_of(noisy)).beyond_bound);
}

TEST(GateOnAnImprovement, ComparesExactValuesDirectly) {
  const DecidedRow row = row_of("allocated_bytes", {100, 100, 100}, {80, 80, 80});
  EXPECT_EQ(outcome("all.allocated_bytes<=-20%", row), GateOutcome::passed);
  EXPECT_EQ(outcome("all.allocated_bytes<=-21%", row), GateOutcome::failed);
}

TEST(GateOnAnImprovement, AsksForMoreWhereMoreIsBetter) {
  RowValues values;
  values.baseline = {100, 100.2, 99.8, 100.4, 99.6, 100.1, 100.3, 99.9};
  for (const double x : values.baseline) values.candidate.push_back(1.3 * x);
  MetricInfo throughput = metric_info("throughput");
  throughput.better = Direction::higher;
  MeasuredRow measured = measure_row({throughput}, std::move(values));
  const RowLevel level{0.05, 1, measured.p_value};
  const DecidedRow row = decide(std::move(measured), level);
  EXPECT_EQ(outcome("all.throughput<=-25%", row), GateOutcome::passed);
  EXPECT_EQ(outcome("all.throughput<=-40%", row), GateOutcome::failed);
  const GateResult result = evaluate_gate(parse_gate("all.throughput<=-40%"), subject_of(row));
  EXPECT_NEAR(*result.evidence.limit, 1.4, 1e-12);
  EXPECT_THAT(result.reason, testing::MatchesRegex("\\+30.0% misses the limit of \\+40% \\(at most "
                                                   "\\+3[0-9.]+% with 95% confidence\\)"));
}

TEST(GateOnAnImprovement, OfGrowthIsNotPassedByACandidateThatDoesNotGrow) {
  const DecidedRow row = row_of("peak_rss_bytes", kA, kA);
  Growth growth;
  growth.verdict = GrowthVerdict::flat;
  Gate gate = parse_gate("all.rss_growth_bytes_per_round<=-64KiB");
  EXPECT_EQ(evaluate_gate(gate, subject_of(row, &growth)).outcome, GateOutcome::failed);
}

TEST(Gate, NeedsOnlyOneOfItsBounds) {
  const DecidedRow row = row_of("peak_rss_bytes", kA, kThreeMore);
  EXPECT_EQ(outcome("all.peak_rss_bytes<=+2%|+16MiB", row), GateOutcome::passed);
  EXPECT_EQ(outcome("all.peak_rss_bytes<=+2%|900MiB", row), GateOutcome::passed);
  EXPECT_EQ(outcome("all.peak_rss_bytes<=+1%|+2MiB", row), GateOutcome::failed);
}

TEST(Ceiling, FailsWithTheFirstTrialAboveIt) {
  const DecidedRow row = row_of("peak_rss_bytes", kA, kA);
  const GateResult failed =
      evaluate_gate(parse_gate("all.peak_rss_bytes<=200.8MiB"), subject_of(row));
  EXPECT_EQ(failed.outcome, GateOutcome::failed);
  EXPECT_THAT(failed.reason, HasSubstr("1 of 8 trials"));
  const GateResult passed =
      evaluate_gate(parse_gate("all.peak_rss_bytes<=201MiB"), subject_of(row));
  EXPECT_EQ(passed.outcome, GateOutcome::passed);
  // 1 - .05^(1/8)
  EXPECT_THAT(passed.reason, HasSubstr("fewer than 31%"));
}

TEST(Ceiling, CannotPassOnTooFewTrials) {
  EXPECT_EQ(outcome("all.peak_rss_bytes<=900MiB", row_of("peak_rss_bytes", {1, 2}, {1, 2})),
            GateOutcome::inconclusive);
}

TEST(GrowthCeiling, FollowsTheIntervalOfTheCandidatesOwnGrowth) {
  const DecidedRow row = row_of("rss_growth_bytes_per_round", kA, kA);
  Growth growth;
  growth.slope = 50 * 1024;
  growth.ci_low = 40 * 1024;
  growth.ci_high = 60 * 1024;
  growth.verdict = GrowthVerdict::growing;
  const auto with = [&](const char* gate) {
    return evaluate_gate(parse_gate(gate), subject_of(row, &growth)).outcome;
  };
  EXPECT_EQ(with("all.rss_growth_bytes_per_round<=64KiB"), GateOutcome::passed);
  EXPECT_EQ(with("all.rss_growth_bytes_per_round<=32KiB"), GateOutcome::failed);
  EXPECT_EQ(with("all.rss_growth_bytes_per_round<=50KiB"), GateOutcome::inconclusive);
  growth.verdict = GrowthVerdict::inconclusive;
  EXPECT_EQ(with("all.rss_growth_bytes_per_round<=32KiB"), GateOutcome::inconclusive)
      << "that it grows is not shown";
  growth.verdict = GrowthVerdict::leveling_off;
  EXPECT_EQ(with("all.rss_growth_bytes_per_round<=64KiB"), GateOutcome::passed);
  EXPECT_EQ(with("all.rss_growth_bytes_per_round<=32KiB"), GateOutcome::inconclusive)
      << "it levels off, but adds 40 KiB a round at least";
  growth.of_files = true;
  EXPECT_EQ(with("all.rss_growth_bytes_per_round<=32KiB"), GateOutcome::passed);
  growth.of_files = false;
  growth.verdict = GrowthVerdict::growing;
  growth.ci_low = 30 * 1024;
  EXPECT_EQ(with("all.rss_growth_bytes_per_round<=32KiB"), GateOutcome::inconclusive)
      << "only the estimate is above it";
}

TEST(Gate, ReportsAMissingMeasurement) {
  const DecidedRow row = row_of("peak_rss_bytes", {}, {});
  const GateResult result = evaluate_gate(parse_gate("all.peak_rss_bytes<=+1%"), subject_of(row));
  EXPECT_TRUE(result.not_measured);
  EXPECT_EQ(result.outcome, GateOutcome::inconclusive);
}

}  // namespace
}  // namespace memduel
