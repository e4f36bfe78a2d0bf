#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/samples.h"
#include "support/synthetic_run.h"
#include "verdict/analyse.h"

namespace memduel {
namespace {

RunData probe_of(int blocks, double sd, unsigned long seed) {
  Random random(seed);
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < blocks; ++i) {
    a.push_back(5e8 * (1 + sd * random.normal()));
    b.push_back(5e8 * (1 + sd * random.normal()));
  }
  RunData run = make_duel("peak_rss_bytes", a, b);
  for (TrialData& trial : run.trials) {
    trial.begin_ns = trial.block * 100'000'000'000 + (trial.arm == "a" ? 0 : 10'000'000'000);
    trial.end_ns = trial.begin_ns + 10'000'000'000;
  }
  return run;
}

RunData probe(double sd) {
  return probe_of(12, sd, 9);
}

TEST(PlanDuel, NeedsMoreBlocksForASmallerChange) {
  const DuelPlan large = plan_duel(probe(0.01), {}, 0.05);
  const DuelPlan small = plan_duel(probe(0.02), {}, 0.0125);
  ASSERT_TRUE(large.blocks);
  ASSERT_TRUE(small.blocks);
  EXPECT_EQ(large.blocks->blocks, 5);
  // Normal theory: 2 (2.8 * 2 / 1.25)^2 = 40, with 2.8 = z(.975) + z(.8).
  EXPECT_NEAR(small.blocks->blocks, 40, 15);
}

TEST(PlanDuel, PromisesNoVerdictBelowTheMargin) {
  const DuelPlan plan = plan_duel(probe(0.01), {}, 0.005);
  EXPECT_FALSE(plan.blocks);
  EXPECT_THAT(plan.rows.front().reason, testing::HasSubstr("below the margin of 1%"));
}

TEST(PlanDuel, TellsTheTime) {
  const DuelPlan plan = plan_duel(probe(0.01), {}, 0.05);
  EXPECT_DOUBLE_EQ(*plan.block_seconds, 20);
  EXPECT_THAT(describe_plan(plan),
              testing::ContainsRegex("^5 trials each \\(95% CI 5 to [0-9]+\\), about 100.0 s"));
}

TEST(PlanDuel, FollowsTheSquareRootLawFromACalibration) {
  Calibration calibration;
  calibration.blocks_per_duel = 8;
  calibration.metrics[{"all", "peak_rss_bytes"}].minimum_detectable = 0.02;
  calibration.blocks = 40;
  const std::vector<Gate> gate = {parse_gate("all.peak_rss_bytes<=+1%")};
  const DuelPlan plan = plan_duel(calibration, gate, 0.01, 2);
  ASSERT_TRUE(plan.blocks);
  EXPECT_EQ(plan.blocks->blocks, 32);
  // Chi-square with 78 degrees of freedom: 55.47 and 104.32 hold 95%.
  EXPECT_EQ(plan.blocks->low, 24) << "32 * 78 / 104.32 = 23.9";
  EXPECT_EQ(plan.blocks->high, 46) << "32 * 78 / 55.466 = 45.0006";
  EXPECT_FALSE(plan.is_from_too_few());
  EXPECT_EQ(plan_duel(calibration, gate, 0.5, 2).blocks->blocks, 5);
  EXPECT_EQ(plan_duel(calibration, gate, 0.5, 7).blocks->blocks, 8)
      << "six candidates share 2 / 900";
}

TEST(PlanDuel, GivesAnIntervalThatHoldsTheNumberOfEndlessTrials) {
  // Normal theory: 2 (2.8 * 2.75 / 2)^2 = 29.6 blocks, with 2.8 = z(.975) + z(.8).
  constexpr double kTruth = 29.6;
  int holds = 0;
  int too_few = 0;
  constexpr int kProbes = 100;
  for (unsigned long seed = 1; seed <= kProbes; ++seed) {
    const DuelPlan plan = plan_duel(probe_of(5, 0.0275, seed), {}, 0.02);
    if (!plan.blocks) continue;  // more than a thousand
    holds += plan.blocks->low <= kTruth && kTruth <= plan.blocks->high.value_or(1e9) ? 1 : 0;
    too_few += plan.is_from_too_few() ? 1 : 0;
  }
  EXPECT_GE(holds, 88) << "of 100 intervals of 95%: fewer come once in 300 times";
  EXPECT_GE(too_few, 90);
}

TEST(PlanDuel, SaysThatAProbeIsTooSmall) {
  // Chi-square with 18 degrees of freedom: 31.53 / 8.23 = 3.83; with 16: 28.85 / 6.91 = 4.18.
  EXPECT_EQ(blocks_to_plan_from(), 10);
  EXPECT_THAT(
      describe_plan(plan_duel(probe_of(5, 0.0275, 3), {}, 0.02)),
      testing::HasSubstr(
          "5 trials each are too few for a precise plan: with 10 the ends of the CI differ by "
          "a factor of 4\n"));
  EXPECT_THAT(describe_plan(plan_duel(probe_of(40, 0.0275, 3), {}, 0.02)),
              testing::Not(testing::HasSubstr("too few")));
}

TEST(PlanDuel, SharesTheLevelBetweenAllComparisons) {
  const RunData run = probe_of(12, 0.002, 9);
  EXPECT_EQ(plan_duel(run, {}, 0.05, 1).blocks->blocks, 5);
  AnalysisSettings settings;
  settings.design = Design::superblocks;
  EXPECT_EQ(plan_duel(run, settings, 0.05, 6).blocks->blocks, 7) << "2 / 432 * 6 = 0.028";
}

TEST(PlanDuel, SaysWhyThereIsNoNumber) {
  const DuelPlan plan = plan_duel(Calibration{}, {parse_gate("all.peak_rss_bytes<=+1%")}, 0.01, 2);
  EXPECT_FALSE(plan.blocks);
  EXPECT_EQ(plan.rows.front().reason, "not in the calibration");
}

}  // namespace
}  // namespace memduel
