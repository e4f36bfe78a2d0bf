#include "stats/sample_size.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/hypothesis_tests.h"

namespace memduel {
namespace {

TEST(LeastTrials, FollowTheDealsOfSuperblocks) {
  // Two trials of each are dealt in 6 ways, a single one in 2: 5 trials in 6^2 * 2 = 72 ways.
  EXPECT_EQ(least_trials(1, Design::superblocks), 5) << "2 / 72 = 0.028";
  EXPECT_EQ(least_trials(2, Design::superblocks), 6) << "2 / 216 * 2 = 0.019";
  EXPECT_EQ(least_trials(5, Design::superblocks), 6) << "2 / 216 * 5 = 0.046";
  EXPECT_EQ(least_trials(6, Design::superblocks), 7) << "2 / 432 * 6 = 0.028";
  EXPECT_EQ(least_trials(11, Design::superblocks), 8) << "2 / 1296 * 11 = 0.017";
  EXPECT_EQ(least_trials(2, Design::superblocks, 0.01), 7) << "2 / 432 * 2 = 0.0093";
}

TEST(LeastTrials, NeverDecideWithFour) {
  EXPECT_EQ(least_trials(1, Design::restricted), 5) << "2 / 48 = 0.042";
  EXPECT_EQ(least_trials(2, Design::restricted), 6) << "2 / 170 * 2 = 0.024";
  EXPECT_EQ(least_trials(5, Design::restricted), 7) << "2 / 238 * 5 = 0.042";
  EXPECT_EQ(least_trials(6, Design::restricted), 8) << "2 / 900 * 6 = 0.013";
  EXPECT_EQ(least_trials(1, Design::unpaired), 5);
  EXPECT_EQ(least_trials(1, Design::paired), 5);
}

double restricted(int blocks) {
  return smallest_p(blocks, Design::restricted);
}

TEST(Looks, SpendTheWholeLevelAndNoMore) {
  for (const LookPlan& plan : {adaptive_looks(1), adaptive_looks(2), earlier_looks()}) {
    double spent = 0;
    for (const Look& look : plan) spent += look.alpha;
    EXPECT_NEAR(spent, 0.05, 1e-15);
  }
}

TEST(PlannedSegments, EndWhereTheDataAreLookedAt) {
  EXPECT_EQ(planned_segments(std::nullopt, 1), (std::vector<int>{6, 4, 6}));
  EXPECT_EQ(planned_segments(std::nullopt, 2), (std::vector<int>{8, 8}));
  EXPECT_EQ(planned_segments(12, 1), (std::vector<int>{6, 6}));
  EXPECT_EQ(planned_segments(7, 3), (std::vector<int>{7}));
  EXPECT_EQ(planned_segments(12, 1, 3), (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(planned_segments(10, 1, 2), (std::vector<int>{4, 6})) << "as shares divide them";
}

TEST(CheckLooks, KeepsAllForOneCandidate) {
  // 2 / 170 = .0118 is not above .02.
  EXPECT_EQ(check_looks(adaptive_looks(1), 1, restricted).looks.size(), 3U);
}

TEST(CheckLooks, RefusesALookThatCannotDecideAndPassesItsLevelOn) {
  // 2 / 170 times two is above .02; at 10 blocks 2 / (170 * 32) times two is not above .035.
  const CheckedLooks checked = check_looks(adaptive_looks(1), 2, restricted);
  ASSERT_EQ(checked.looks.size(), 2U);
  EXPECT_EQ(checked.looks[0].blocks, 10);
  EXPECT_NEAR(checked.looks[0].alpha, 0.035, 1e-15);
  ASSERT_EQ(checked.limitations.size(), 1U);
  EXPECT_EQ(checked.limitations[0].code, "look_refused");
}

TEST(CheckLooks, KeepsTheOnlyLookAlsoWhenItCannotDecide) {
  const CheckedLooks checked = check_looks(fixed_looks(5), 10, restricted);
  ASSERT_EQ(checked.looks.size(), 1U);
  EXPECT_TRUE(checked.limitations.empty());
}

TEST(AlphaAt, GivesALookItsOwnShare) {
  EXPECT_EQ(alpha_at(adaptive_looks(1), 6), 0.02);
  EXPECT_EQ(alpha_at(adaptive_looks(2), 16), 0.025);
  EXPECT_EQ(alpha_at(fixed_looks(8), 8), 0.05);
}

TEST(AlphaAt, GivesARunCutShortWhatIsLeft) {
  EXPECT_NEAR(alpha_at(adaptive_looks(1), 5), 0.05, 1e-15);
  EXPECT_NEAR(alpha_at(adaptive_looks(1), 8), 0.03, 1e-15);
  EXPECT_NEAR(alpha_at(fixed_looks(8), 7), 0.05, 1e-15);
}

TEST(SmallestP, FollowsTheClosedForms) {
  EXPECT_DOUBLE_EQ(smallest_p(8, Design::paired), 1.0 / 128);
  EXPECT_NEAR(smallest_p(5, Design::paired), 2.0 / 252, 1e-15);
  EXPECT_DOUBLE_EQ(smallest_p(4, Design::superblocks), 2.0 / 36);
  EXPECT_DOUBLE_EQ(smallest_p(5, Design::superblocks), 2.0 / 72);
  EXPECT_DOUBLE_EQ(smallest_p(6, Design::superblocks), 2.0 / 216);
  EXPECT_DOUBLE_EQ(smallest_p(16, Design::superblocks), 2.0 / 1679616);
  EXPECT_DOUBLE_EQ(smallest_p(12, Design::restricted), 2.0 / (170 * 170));
}

Noise normal_noise(size_t blocks, double sd) {
  Random random(2);
  Noise noise;
  for (size_t i = 0; i < blocks; ++i) {
    noise.a.push_back(sd * random.normal());
    noise.b.push_back(sd * random.normal());
  }
  return noise;
}

TEST(ScatterOf, IsThatOfADifferenceOfMeansForNormalNoise) {
  // sd * sqrt(2 / n); the estimate by ranks is 3 / pi as efficient as that by means.
  Random random(1);
  const EstimateScatter scatter = scatter_of(normal_noise(4000, 0.01), 16, 4000, random);
  const double textbook = 0.01 * std::sqrt(2.0 / 16 * M_PI / 3);
  EXPECT_NEAR(scatter.error, textbook, 0.04 * textbook);
  EXPECT_NEAR(scatter.largest80, 0.8416 * textbook, 0.06 * textbook);
}

TEST(DetectableShift, IsTheTextbookFormulaAndNeverWithinTheMargin) {
  const EstimateScatter scatter{0.01, 0.0084};
  // t(.975, 15) = 2.1314
  EXPECT_NEAR(*detectable_shift(scatter, 16, Design::superblocks, 0.05, 0), 0.021314 + 0.0084,
              1e-5);
  EXPECT_NEAR(*detectable_shift(scatter, 16, Design::superblocks, 0.05, 0.1), 0.1084, 1e-12);
  EXPECT_FALSE(detectable_shift(scatter, 4, Design::superblocks, 0.05, 0)) << "no p below .056";
}

TEST(NoiseOf, TakesTheShiftOutAndNeedsFiveFiniteBlocks) {
  const std::vector<double> a = {1, 2, 3, 4, 5};
  const std::vector<double> b = {11, 12, 13, 14, 15};
  const auto noise = noise_of(a, b);
  ASSERT_TRUE(noise);
  EXPECT_NEAR(noise->a[0], noise->b[0], 1e-12);
  EXPECT_FALSE(noise_of(std::span(a).first(4), std::span(b).first(4)));
  EXPECT_FALSE(noise_of(a, std::vector<double>{1, 2, 3, 4, INFINITY}));
}

TEST(BlocksToSettle, FollowsTheSquareRootLaw) {
  // t(.975, 7) = 2.3646: a width of 2.3646 + 1 against an effect of half of it.
  const EstimateScatter scatter{1, 1};
  EXPECT_EQ(blocks_to_settle(scatter, 3.3646 / 2 + 1e-4, 0.1, 8, Design::superblocks, 0.05, 0), 32);
}

TEST(BlocksToSettle, AreAsManyAsTheLevelAsksForHoweverLargeTheEffect) {
  // Two of the ways to deal the arms are as far apart: C(4, 2)^3 = 216 of six blocks, 20 * 6^2 of
  // seven. One of six rows is tested at .05 / 6 = .0083.
  const EstimateScatter scatter{1, 1};
  EXPECT_EQ(blocks_to_settle(scatter, 1000, 0.1, 5, Design::superblocks, 0.05, 0), 6);
  EXPECT_GT(2.0 / 216, 0.05 / 6);
  EXPECT_LE(2.0 / 720, 0.05 / 6);
  EXPECT_EQ(blocks_to_settle(scatter, 1000, 0.1, 5, Design::superblocks, 0.05 / 6, 0), 7);
}

TEST(BlocksToSettle, TakesTheWiderOfScatterAndInterval) {
  const EstimateScatter scatter{1, 1};
  const auto needed = [&](double half_width) {
    return blocks_to_settle(scatter, 3.3646 / 2 + 1e-4, 0.1, 8, Design::superblocks, 0.05,
                            half_width);
  };
  EXPECT_EQ(needed(2), 32) << "the scatter's own width is 2.36";
  // (3 + 1) against an effect of 1.6823: 8 * 2.3777^2 = 45.2.
  EXPECT_EQ(needed(3), 46);
  EXPECT_EQ(needed(INFINITY), 32) << "no interval was found";
}

TEST(BlocksToSettle, HasNoNumberThatNobodyWouldRun) {
  const EstimateScatter scatter{1, 1};
  EXPECT_FALSE(blocks_to_settle(scatter, 0.999, 1, 8, Design::superblocks, 0.05, 0))
      << "at the margin";
  EXPECT_FALSE(blocks_to_settle(scatter, 3.3646 / 3, 0.1, 8, Design::superblocks, 0.05, 0))
      << "72 blocks";
}

}  // namespace
}  // namespace memduel
