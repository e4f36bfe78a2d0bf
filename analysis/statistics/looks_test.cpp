#include "analysis/statistics/looks.h"

#include <gtest/gtest.h>

#include "analysis/statistics/shift_test.h"

namespace memduel {
namespace {

TEST(Looks, SpendTheWholeLevelAndNoMore) {
  double spent = 0;
  for (const Look& look : adaptive_looks()) spent += look.alpha;
  EXPECT_NEAR(spent, 0.05, 1e-15);
}

TEST(CheckLooks, KeepsAllFourForOneGate) {
  EXPECT_EQ(check_looks(adaptive_looks(), 1, Design::superblocks).looks.size(), 4U);
}

TEST(CheckLooks, RefusesSixBlocksForTwoGatesAndPassesTheLevelOn) {
  // 2 / 6^3 = .0093 is above .01 / 2 = .005; 2 / 6^4 = .0015 is not above .02 / 3 = .0067.
  for (const int gates : {2, 3}) {
    const CheckedLooks checked = check_looks(adaptive_looks(), gates, Design::superblocks);
    ASSERT_EQ(checked.looks.size(), 3U);
    EXPECT_EQ(checked.looks[0].blocks, 8);
    EXPECT_NEAR(checked.looks[0].alpha, 0.02, 1e-15);
    ASSERT_EQ(checked.limitations.size(), 1U);
    EXPECT_EQ(checked.limitations[0].code, "look_refused");
  }
}

TEST(CheckLooks, SaysWhenTheOnlyLookCannotDecide) {
  const CheckedLooks checked = check_looks(fixed_looks(5), 10, Design::superblocks);
  ASSERT_EQ(checked.looks.size(), 1U);
  ASSERT_EQ(checked.limitations.size(), 1U);
  EXPECT_EQ(checked.limitations[0].code, "too_few_blocks_for_gates");
}

TEST(AlphaAt, GivesALookItsOwnShare) {
  EXPECT_EQ(alpha_at(adaptive_looks(), 8), 0.01);
  EXPECT_EQ(alpha_at(adaptive_looks(), 16), 0.015);
  EXPECT_EQ(alpha_at(fixed_looks(8), 8), 0.05);
}

TEST(AlphaAt, GivesARunCutShortWhatIsLeft) {
  EXPECT_NEAR(alpha_at(adaptive_looks(), 5), 0.05, 1e-15);
  EXPECT_NEAR(alpha_at(adaptive_looks(), 10), 0.03, 1e-15);
  EXPECT_NEAR(alpha_at(fixed_looks(8), 7), 0.05, 1e-15);
}

TEST(SmallestP, FollowsTheClosedForms) {
  EXPECT_DOUBLE_EQ(smallest_p(8, Design::paired), 1.0 / 128);
  EXPECT_NEAR(smallest_p(5, Design::paired), 2.0 / 252, 1e-15);
  EXPECT_DOUBLE_EQ(smallest_p(4, Design::superblocks), 2.0 / 36);
  EXPECT_DOUBLE_EQ(smallest_p(5, Design::superblocks), 2.0 / 72);
  EXPECT_DOUBLE_EQ(smallest_p(6, Design::superblocks), 2.0 / 216);
  EXPECT_DOUBLE_EQ(smallest_p(16, Design::superblocks), 2.0 / 1679616);
}

}  // namespace
}  // namespace memduel
