// Against SciPy: analysis/testdata/sign_flip.py printed the expected values.
#include "analysis/statistics/sign_flip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "analysis/values/random.h"
#include "analysis/values/test_data.h"

namespace memduel {
namespace {

using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Twice the difference of the pooled mid-ranks in each block.
std::vector<int> rank_differences(const Values& a, const Values& b) {
  Values pooled = a;
  pooled.insert(pooled.end(), b.begin(), b.end());
  const auto rank = [&](double x) {
    int twice = 0;
    for (const double y : pooled) twice += y < x ? 2 : static_cast<int>(y == x);
    return twice;
  };
  std::vector<int> d;
  for (size_t i = 0; i < a.size(); ++i) d.push_back(rank(b[i]) - rank(a[i]));
  return d;
}

int sum(const std::vector<int>& d) {
  int total = 0;
  for (const int x : d) total += x;
  return total;
}

TEST(SignFlipAgainstSciPy, GivesTheExactPWithAndWithoutTies) {
  const auto cases = test_data("sign_flip.json").at("sign_flip");
  ASSERT_GE(cases.size(), 6U);
  for (const auto& expected : cases) {
    const std::vector<int> d = rank_differences(expected.at("a"), expected.at("b"));
    EXPECT_NEAR(sign_flip_p(d, sum(d)), expected.at("p").get<double>(), 1e-12);
  }
}

TEST(SignFlipAgainstSciPy, ReportsThatPOrAMoreCarefulOne) {
  for (const auto& expected : test_data("sign_flip.json").at("sign_flip")) {
    const Values a = expected.at("a");
    const Values b = expected.at("b");
    EXPECT_GE(SignFlip(a, b).p_value(), expected.at("p").get<double>() - 1e-12);
  }
}

TEST(SignFlip, CountsSignPatternsExactly) {
  // |+-1 +-2 +-3| >= 6 in 2 of 8 patterns, >= 4 in 4 of 8.
  EXPECT_DOUBLE_EQ(sign_flip_p(std::vector<int>{1, 2, 3}, 6), 0.25);
  EXPECT_DOUBLE_EQ(sign_flip_p(std::vector<int>{1, 2, -3}, -4), 0.5);
  EXPECT_DOUBLE_EQ(sign_flip_p(std::vector<int>{1, 2, -3}, 0), 1);
}

TEST(SignFlip, SeparatesEightPairsAtOneOf128) {
  const Values a = {1, 2, 3, 4, 5, 6, 7, 8};
  const Values b = {11, 12, 13, 14, 15, 16, 17, 18};
  EXPECT_DOUBLE_EQ(SignFlip(a, b).p_value(), 1.0 / 128);
}

TEST(SignFlip, SaysNothingAboutEqualValues) {
  const Values same(8, 5.0);
  const SignFlip test(same, same);
  EXPECT_DOUBLE_EQ(test.p_value(), 1);
  EXPECT_EQ(test.interval(0.05).low, 0);
  EXPECT_EQ(test.interval(0.05).high, 0);
}

TEST(SignFlip, LeavesTheUpperEndOpenWhenManyCandidatesDied) {
  const Values a = {1, 2, 3, 4, 5, 6, 7, 8};
  const Values b = {kInfinity, kInfinity, kInfinity, kInfinity, 5.5, 6.5, 7.5, 8.5};
  const Interval interval = SignFlip(a, b).interval(0.05);
  EXPECT_TRUE(std::isinf(interval.high));
  EXPECT_TRUE(std::isfinite(interval.low));
}

TEST(SignFlip, TakesMinusInfinityAsBelowEveryValue) {
  const Values a = {1, 2, 3, 4, 5, 6, 7, 8};
  const Values b(8, -kInfinity);
  EXPECT_DOUBLE_EQ(SignFlip(a, b).p_value(), 1.0 / 128);
}

TEST(SignFlip, MovesSmoothlyFromTheExactToTheNormalTail) {
  // 40 terms are exact, 41 are not: both tails of a walk of as many steps.
  const std::vector<int> exact(40, 2);
  const std::vector<int> normal(41, 2);
  // Expected: 2 * pbinom(13, 40, 0.5) and 2 * pbinom(13, 41, 0.5) in R.
  EXPECT_NEAR(sign_flip_p(exact, 28), 0.038477, 1e-6);
  EXPECT_NEAR(sign_flip_p(normal, 30), 0.027534, 0.002);
}

}  // namespace
}  // namespace memduel
