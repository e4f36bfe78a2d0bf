// Rank tests and the intervals beside them (Clopper and Pearson, Holm), against R and SciPy:
// bench/stats/testdata/ has the scripts that printed the expected values. And what must hold for
// any data: RapidCheck draws the values, with ties and without.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/estimates.h"
#include "stats/hypothesis_tests.h"
#include "stats/samples.h"
#include "support/test_data.h"

namespace memduel {
namespace {

using Values = std::vector<double>;

constexpr double kClose = 1e-12;

TEST(MannWhitneyAgainstR, GivesThePValueTheEstimateAndBothIntervals) {
  const auto cases = test_data("rank_tests.json").at("mann_whitney");
  ASSERT_GE(cases.size(), 6U);
  for (const auto& expected : cases) {
    const Values a = expected.at("a");
    const Values b = expected.at("b");
    const MannWhitney test(a, b);
    EXPECT_NEAR(test.p_value(), expected.at("p").get<double>(), kClose);
    EXPECT_NEAR(hodges_lehmann_shift(a, b), expected.at("estimate").get<double>(), kClose);
    EXPECT_NEAR(test.interval(0.05).low, expected.at("low95").get<double>(), kClose);
    EXPECT_NEAR(test.interval(0.05).high, expected.at("high95").get<double>(), kClose);
    EXPECT_NEAR(test.interval(0.10).low, expected.at("low90").get<double>(), kClose);
    EXPECT_NEAR(test.interval(0.10).high, expected.at("high90").get<double>(), kClose);
  }
}

TEST(MannWhitneyAgainstR, GivesTheWholeDistribution) {
  const auto expected = test_data("rank_tests.json").at("wilcox_cdf");
  const Values p = expected.at("p");
  const Values cdf = mann_whitney_cdf(7, 5);
  ASSERT_EQ(cdf.size(), p.size());
  for (size_t u = 0; u < p.size(); ++u) EXPECT_NEAR(cdf[u], p[u], kClose);
}

TEST(MannWhitney, SeparatesFiveAndFiveAtTwoOf252) {
  const Values a = {1, 2, 3, 4, 5};
  const Values b = {6, 7, 8, 9, 10};
  EXPECT_DOUBLE_EQ(MannWhitney(a, b).p_value(), 2.0 / 252);
}

TEST(MannWhitney, TakesInfinitiesAsWorseThanAnyValue) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Values a = {1, 2, 3, 4, 5};
  const Values b = {infinity, infinity, infinity, infinity, infinity};
  EXPECT_DOUBLE_EQ(MannWhitney(a, b).p_value(), 2.0 / 252);
}

TEST(MultiplicityAgainstR, AdjustsByHolmAndByBenjaminiAndHochberg) {
  for (const auto& expected : test_data("rank_tests.json").at("adjusted")) {
    const Values p = expected.at("p");
    const Values by_holm = expected.at("holm");
    const Values by_bh = expected.at("benjamini_hochberg");
    for (size_t i = 0; i < p.size(); ++i) {
      EXPECT_NEAR(holm(p)[i], by_holm[i], kClose);
      EXPECT_NEAR(benjamini_hochberg(p)[i], by_bh[i], kClose);
    }
  }
}

TEST(ClopperPearsonAgainstR, GivesBothIntervals) {
  for (const auto& expected : test_data("rank_tests.json").at("clopper_pearson")) {
    const int hits = expected.at("hits");
    const int n = expected.at("n");
    EXPECT_NEAR(clopper_pearson(hits, n).low, expected.at("low").get<double>(), 1e-9);
    EXPECT_NEAR(clopper_pearson(hits, n).high, expected.at("high").get<double>(), 1e-9);
    EXPECT_NEAR(exceedance_bound(hits, n), expected.at("upper95").get<double>(), 1e-9);
  }
}

struct Sample {
  std::vector<double> a;
  std::vector<double> b;
};

/// 5 to 12 blocks of small whole numbers (many ties) or of finer steps (few).
Sample draw_sample() {
  const auto n = *rc::gen::inRange<size_t>(5, 13);
  const int range = *rc::gen::element(4, 100000);
  const auto values = rc::gen::container<std::vector<int>>(n, rc::gen::inRange(0, range));
  const std::vector<int> a = *values;
  const std::vector<int> b = *values;
  return {{a.begin(), a.end()}, {b.begin(), b.end()}};
}

double draw_alpha() {
  return *rc::gen::element(0.01, 0.015, 0.02, 0.05, 0.1);
}

ShiftTest paired(const Sample& sample) {
  return {sample.a, sample.b, Design::paired};
}

void expect_property(const std::function<void()>& property) {
  EXPECT_TRUE(rc::check(property));
}

TEST(ShiftTestProperty, PAndIntervalNeverDisagree) {
  expect_property([] {
    const Sample sample = draw_sample();
    const double alpha = draw_alpha();
    const ShiftTest test = paired(sample);
    RC_ASSERT((test.p_value() <= alpha) == !test.interval(alpha).contains(0));
  });
}

TEST(ShiftTestProperty, NarrowerConfidenceGivesANarrowerInterval) {
  expect_property([] {
    const ShiftTest test = paired(draw_sample());
    const Interval wide = test.interval(0.02);
    const Interval narrow = test.interval(0.1);
    RC_ASSERT(wide.low <= narrow.low);
    RC_ASSERT(narrow.high <= wide.high);
  });
}

TEST(ShiftTestProperty, ScalingTheDataScalesTheInterval) {
  expect_property([] {
    const Sample sample = draw_sample();
    Sample scaled = sample;
    // A power of two, so that no rounding changes the order of differences.
    for (double& x : scaled.a) x *= 8;
    for (double& x : scaled.b) x *= 8;
    const ShiftTest test = paired(sample);
    const ShiftTest of_scaled = paired(scaled);
    RC_ASSERT(test.p_value() == of_scaled.p_value());
    RC_ASSERT(8 * test.interval(0.05).low == of_scaled.interval(0.05).low);
    RC_ASSERT(8 * test.interval(0.05).high == of_scaled.interval(0.05).high);
  });
}

TEST(ShiftTestProperty, SwappingTheArmsMirrorsTheInterval) {
  expect_property([] {
    const Sample sample = draw_sample();
    const ShiftTest test = paired(sample);
    const ShiftTest mirrored = paired({sample.b, sample.a});
    RC_ASSERT(test.p_value() == mirrored.p_value());
    RC_ASSERT(test.interval(0.05).low == -mirrored.interval(0.05).high);
    RC_ASSERT(test.interval(0.05).high == -mirrored.interval(0.05).low);
    RC_ASSERT(hodges_lehmann_shift(sample.a, sample.b) ==
              -hodges_lehmann_shift(sample.b, sample.a));
  });
}

TEST(ShiftTestProperty, TheOrderOfBlocksDoesNotMatter) {
  expect_property([] {
    const Sample sample = draw_sample();
    Sample turned = sample;
    const auto by = static_cast<std::ptrdiff_t>(*rc::gen::inRange<size_t>(0, sample.a.size()));
    std::rotate(turned.a.begin(), turned.a.begin() + by, turned.a.end());
    std::rotate(turned.b.begin(), turned.b.begin() + by, turned.b.end());
    RC_ASSERT(paired(sample).p_value() == paired(turned).p_value());
    RC_ASSERT(paired(sample).interval(0.05).low == paired(turned).interval(0.05).low);
  });
}

TEST(ShiftTestProperty, ShiftingOneArmShiftsTheInterval) {
  expect_property([] {
    const Sample sample = draw_sample();
    Sample shifted = sample;
    for (double& x : shifted.b) x += 1000;
    RC_ASSERT(paired(sample).interval(0.05).low + 1000 == paired(shifted).interval(0.05).low);
    RC_ASSERT(paired(sample).interval(0.05).high + 1000 == paired(shifted).interval(0.05).high);
  });
}

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
