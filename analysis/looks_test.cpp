#include "analysis/looks.h"

#include <gtest/gtest.h>

#include "analysis/shift_test.h"

namespace memduel {
namespace {

TEST(Looks, SpendTheWholeLevelAndNoMore) {
  double spent = 0;
  for (const Look& look : adaptive_looks()) spent += look.alpha;
  EXPECT_NEAR(spent, 0.05, 1e-15);
}

TEST(CheckLooks, KeepsAllThreeForTwoGates) {
  EXPECT_EQ(check_looks(adaptive_looks(), 2).looks.size(), 3U);
}

TEST(CheckLooks, RefusesEightBlocksForThreeGatesAndPassesTheLevelOn) {
  // 2^(1-8) = .0078 is above .02 / 3 = .0067.
  const CheckedLooks checked = check_looks(adaptive_looks(), 3);
  ASSERT_EQ(checked.looks.size(), 2U);
  EXPECT_EQ(checked.looks[0].blocks, 12);
  EXPECT_NEAR(checked.looks[0].alpha, 0.035, 1e-15);
  ASSERT_EQ(checked.limitations.size(), 1U);
  EXPECT_EQ(checked.limitations[0].code, "look_refused");
}

TEST(CheckLooks, SaysWhenTheOnlyLookCannotDecide) {
  const CheckedLooks checked = check_looks(fixed_looks(8), 10);
  ASSERT_EQ(checked.looks.size(), 1U);
  ASSERT_EQ(checked.limitations.size(), 1U);
  EXPECT_EQ(checked.limitations[0].code, "too_few_blocks_for_gates");
}

TEST(AlphaAt, GivesALookItsOwnShare) {
  EXPECT_EQ(alpha_at(adaptive_looks(), 8), 0.02);
  EXPECT_EQ(alpha_at(adaptive_looks(), 16), 0.015);
  EXPECT_EQ(alpha_at(fixed_looks(8), 8), 0.05);
}

TEST(AlphaAt, GivesARunCutShortWhatIsLeft) {
  EXPECT_NEAR(alpha_at(adaptive_looks(), 6), 0.05, 1e-15);
  EXPECT_NEAR(alpha_at(adaptive_looks(), 10), 0.03, 1e-15);
  EXPECT_NEAR(alpha_at(fixed_looks(8), 7), 0.05, 1e-15);
}

TEST(SmallestP, FollowsTheClosedForms) {
  EXPECT_DOUBLE_EQ(smallest_p(8), 1.0 / 128);
  EXPECT_NEAR(smallest_p(5), 2.0 / 252, 1e-15);
}

}  // namespace
}  // namespace memduel
