#include "experiment/metrics/outside_rounds.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(OutsideRounds, KeepTheLargestOfEachPartInTheOrderOfTime) {
  std::vector<OutsideRounds> parts;
  keep_largest(parts, {TrialPart::after_rounds, 8, 9, 300, false});
  keep_largest(parts, {TrialPart::start_up, 1, 2, 700, false});
  keep_largest(parts, {TrialPart::after_rounds, 9, 10, 200, true});
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].part, TrialPart::start_up);
  EXPECT_EQ(parts[1].peak_rss_bytes, 300);
  keep_largest(parts, {TrialPart::after_rounds, 9, 10, 400, true});
  EXPECT_EQ(parts[1].begin_ns, 9);
  EXPECT_TRUE(parts[1].peak_rss_is_sampled);
}

TEST(OutsideRounds, HaveThePeakOfARoundThatDoesNotCount) {
  RoleData role;
  role.rounds = {{1, 0, 10, {{"peak_rss_bytes", 100.0}}, {}},
                 {2, 10, 20, {{"peak_rss_bytes", 300.0}}, {}, true}};
  drop_rounds_after(role, 1);
  ASSERT_EQ(role.rounds.size(), 1U);
  ASSERT_EQ(role.outside_rounds.size(), 1U);
  EXPECT_EQ(role.outside_rounds[0].part, TrialPart::after_rounds);
  EXPECT_EQ(role.outside_rounds[0].peak_rss_bytes, 300);
  EXPECT_EQ(role.outside_rounds[0].begin_ns, 10);
  EXPECT_TRUE(role.outside_rounds[0].peak_rss_is_sampled);
}

}  // namespace
}  // namespace memduel
