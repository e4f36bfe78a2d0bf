#include "analysis/statistics/looks.h"

#include <gtest/gtest.h>

#include "analysis/statistics/shift_test.h"

namespace memduel {
namespace {

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

}  // namespace
}  // namespace memduel
