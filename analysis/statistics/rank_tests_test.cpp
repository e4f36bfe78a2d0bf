// Against R: analysis/testdata/rank_tests.R printed the expected values.
#include <gtest/gtest.h>

#include "analysis/statistics/hodges_lehmann.h"
#include "analysis/statistics/mann_whitney.h"
#include "analysis/statistics/multiplicity.h"
#include "analysis/statistics/tail.h"
#include "analysis/values/test_data.h"

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

}  // namespace
}  // namespace memduel
