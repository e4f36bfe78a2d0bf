#include "analysis/statistics/theil_sen.h"

#include <gtest/gtest.h>

#include "analysis/values/test_data.h"

namespace memduel {
namespace {

using Values = std::vector<double>;

TEST(TheilSenAgainstSciPy, GivesTheSlope) {
  for (const auto& expected : test_data("sign_flip.json").at("theil_sen")) {
    const Values x = expected.at("x");
    const Values y = expected.at("y");
    EXPECT_NEAR(*theil_sen_slope(x, y), expected.at("slope").get<double>(), 1e-12);
  }
}

TEST(TheilSen, HasNoSlopeWithoutTwoDistinctPlaces) {
  const Values x = {3, 3};
  const Values y = {1, 2};
  EXPECT_FALSE(theil_sen_slope(x, y));
}

TEST(TheilSen, KeepsTheSlopeOfALongSeries) {
  Values x;
  Values y;
  for (int i = 0; i < 25000; ++i) {
    x.push_back(i);
    y.push_back(1e9 + 4096.0 * i + (i % 7) * 1e5);
  }
  EXPECT_NEAR(*theil_sen_slope(x, y), 4096, 1);
}

}  // namespace
}  // namespace memduel
