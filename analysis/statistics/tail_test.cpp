#include "analysis/statistics/tail.h"

#include <gtest/gtest.h>

#include <cmath>

namespace memduel {
namespace {

TEST(Tail, CountsDistinctValues) {
  const Tail of = tail(std::vector<double>{3, 1, 3, 3});
  EXPECT_EQ(of.maximum, 3);
  ASSERT_EQ(of.distinct.size(), 2U);
  EXPECT_EQ(of.distinct[0].value, 1);
  EXPECT_EQ(of.distinct[0].count, 1);
  EXPECT_EQ(of.distinct[1].count, 3);
}

TEST(ExceedanceBound, FollowsTheClosedFormAfterNone) {
  for (const int n : {5, 10, 29, 59}) {
    EXPECT_NEAR(exceedance_bound(0, n), 1 - std::pow(0.05, 1.0 / n), 1e-12);
  }
  EXPECT_EQ(exceedance_bound(4, 4), 1);
}

}  // namespace
}  // namespace memduel
