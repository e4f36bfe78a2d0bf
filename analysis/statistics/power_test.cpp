#include "analysis/statistics/power.h"

#include <gtest/gtest.h>

#include <cmath>

namespace memduel {
namespace {

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
  EXPECT_EQ(blocks_to_settle(scatter, 3.3646 / 2 + 1e-4, 0.1, 8, Design::superblocks, 0.05), 32);
}

TEST(BlocksToSettle, AreAsManyAsTheLevelAsksForHoweverLargeTheEffect) {
  // Two of the ways to deal the arms are as far apart: C(4, 2)^3 = 216 of six blocks, 20 * 6^2 of
  // seven. One of six rows is tested at .05 / 6 = .0083.
  const EstimateScatter scatter{1, 1};
  EXPECT_EQ(blocks_to_settle(scatter, 1000, 0.1, 5, Design::superblocks, 0.05), 6);
  EXPECT_GT(2.0 / 216, 0.05 / 6);
  EXPECT_LE(2.0 / 720, 0.05 / 6);
  EXPECT_EQ(blocks_to_settle(scatter, 1000, 0.1, 5, Design::superblocks, 0.05 / 6), 7);
}

TEST(BlocksToSettle, HasNoNumberThatNobodyWouldRun) {
  const EstimateScatter scatter{1, 1};
  EXPECT_FALSE(blocks_to_settle(scatter, 0.999, 1, 8, Design::superblocks, 0.05))
      << "at the margin";
  EXPECT_FALSE(blocks_to_settle(scatter, 3.3646 / 3, 0.1, 8, Design::superblocks, 0.05))
      << "72 blocks";
}

}  // namespace
}  // namespace memduel
