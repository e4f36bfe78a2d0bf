#include "analysis/statistics/least_trials.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace memduel
