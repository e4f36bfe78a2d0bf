#include "analysis/power.h"

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

TEST(DetectableShift, IsNearTheTextbookFormulaForNormalNoise) {
  // (z_.975 + z_.8) sd sqrt(2 / n) for the mean of normal values; ranks at n = 16 need some 8 %
  // more.
  Random random(1);
  const double found =
      detectable_shift(normal_noise(400, 0.01), 16, Design::paired, 0.05, 2000, random);
  const double textbook = (1.95996 + 0.84162) * 0.01 * std::sqrt(2.0 / 16);
  EXPECT_NEAR(found, 1.08 * textbook, 0.07 * textbook);
}

TEST(DetectableShift, FindsTheSimulatedPower) {
  const Noise noise = normal_noise(400, 0.01);
  Random random(1);
  const double shift = detectable_shift(noise, 8, Design::paired, 0.05, 1000, random);
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> a;
    std::vector<double> b;
    for (int k = 0; k < 8; ++k) {
      a.push_back(0.01 * random.normal());
      b.push_back(0.01 * random.normal() + shift);
    }
    found += static_cast<int>(SignFlip(a, b).p_value() <= 0.05);
  }
  EXPECT_NEAR(found / 2000.0, kPower, 0.05);
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
  // Twice the width that the effect allows: four times the blocks.
  EXPECT_EQ(blocks_to_settle(0.02, 0.01, 8, 0.04, 0.03), 32);
  EXPECT_EQ(blocks_to_settle(0.00, 0.01, 8, 0.04, 0.02), 32);
}

TEST(BlocksToSettle, HasNoNumberForAnEffectAtTheMargin) {
  EXPECT_FALSE(blocks_to_settle(0.00999, 0.01, 8, 0.04, 0.03));
}

}  // namespace
}  // namespace memduel
