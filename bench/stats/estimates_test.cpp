#include "analysis/statistics/modes.h"

#include <gtest/gtest.h>

#include "analysis/values/random.h"

namespace memduel {
namespace {

TEST(FindModes, FindsTheRunsWithOneMoreArena) {
  const std::vector<Mode> modes =
      find_modes(std::vector<double>{540, 604, 541, 539, 540.5, 605, 542, 538, 604.5});
  ASSERT_EQ(modes.size(), 2U);
  EXPECT_EQ(modes[0].count, 6);
  EXPECT_EQ(modes[1].count, 3);
  EXPECT_NEAR(modes[1].median, 604.5, 1e-9);
}

TEST(FindModes, ASingleTrialBesideTwoModesIsNoThird) {
  const std::vector<Mode> modes =
      find_modes(std::vector<double>{95.4, 103.9, 104, 104.1, 103.8, 116.4, 116.3, 116.5});
  ASSERT_EQ(modes.size(), 2U);
  EXPECT_EQ(modes[0].count, 4);
  EXPECT_EQ(modes[1].count, 3);
}

TEST(FindModes, TwoTrialsAreNoMode) {
  EXPECT_TRUE(find_modes(std::vector<double>{540, 604, 541, 539, 540.5, 605, 542, 538}).empty());
}

TEST(FindModes, RarelyFindsAnyInNormalNoise) {
  Random random(5);
  int found = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> values;
    for (int k = 0; k < 12; ++k) values.push_back(540 * (1 + 0.01 * random.normal()));
    found += static_cast<int>(!find_modes(values).empty());
  }
  EXPECT_LE(found, 50);
}

TEST(FindModes, FindsNoneInOneOutlierOrInEqualValues) {
  EXPECT_TRUE(find_modes(std::vector<double>{540, 541, 540, 541, 700}).empty());
  EXPECT_TRUE(find_modes(std::vector<double>{5, 5, 5, 5, 5}).empty());
}

}  // namespace
}  // namespace memduel
