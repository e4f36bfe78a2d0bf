#include "analysis/questions/duel_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/values/random.h"
#include "analysis/values/test_synthetic_run.h"

namespace memduel {
namespace {

RunData probe(double sd) {
  Random random(9);
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 12; ++i) {
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

TEST(PlanDuel, NeedsMoreBlocksForASmallerChange) {
  const DuelPlan large = plan_duel(probe(0.01), {}, 0.05);
  const DuelPlan small = plan_duel(probe(0.02), {}, 0.0125);
  ASSERT_TRUE(large.blocks);
  ASSERT_TRUE(small.blocks);
  EXPECT_EQ(*large.blocks, 5);
  // Normal theory: 2 (2.8 * 2 / 1.25)^2 = 40, with 2.8 = z(.975) + z(.8).
  EXPECT_NEAR(*small.blocks, 40, 15);
}

TEST(PlanDuel, PromisesNoVerdictBelowTheMargin) {
  const DuelPlan plan = plan_duel(probe(0.01), {}, 0.005);
  EXPECT_FALSE(plan.blocks);
  EXPECT_THAT(plan.rows.front().reason, testing::HasSubstr("below the margin of 1 %"));
}

TEST(PlanDuel, TellsTheTime) {
  const DuelPlan plan = plan_duel(probe(0.01), {}, 0.05);
  EXPECT_DOUBLE_EQ(*plan.block_seconds, 20);
  EXPECT_THAT(describe_plan(plan), testing::HasSubstr("5 blocks, about 100.0 s"));
}

TEST(PlanDuel, FollowsTheSquareRootLawFromACalibration) {
  Calibration calibration;
  calibration.blocks_per_duel = 8;
  calibration.metrics[{"tree", "peak_rss_bytes"}].smallest_detectable = 0.02;
  const DuelPlan plan = plan_duel(calibration, {parse_gate("tree.peak_rss_bytes<=+1%")}, 0.01, 2);
  EXPECT_EQ(plan.blocks, 32);
}

TEST(PlanDuel, SaysWhyThereIsNoNumber) {
  const DuelPlan plan = plan_duel(Calibration{}, {parse_gate("tree.peak_rss_bytes<=+1%")}, 0.01, 2);
  EXPECT_FALSE(plan.blocks);
  EXPECT_EQ(plan.rows.front().reason, "not in the calibration");
}

}  // namespace
}  // namespace memduel
