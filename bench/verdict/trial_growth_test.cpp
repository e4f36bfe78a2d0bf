#include "analysis/growth/time_windows.h"

#include <gtest/gtest.h>

#include "analysis/values/test_synthetic_run.h"

namespace memduel {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

/// `seconds` of samples, ten in a second, of base + per_second * t and a spike in every fourth.
Series rising(int seconds, std::int64_t base, std::int64_t per_second) {
  Series series;
  series.metric = "rss_bytes";
  for (int tenth = 0; tenth <= 10 * seconds; ++tenth) {
    series.t_ns.push_back(tenth * kSecondNs / 10);
    series.values.push_back(base + per_second * tenth / 10 + (tenth % 4 == 1 ? 1'000'000'000 : 0));
  }
  return series;
}

TEST(TimeWindows, HoldTheSmallestValueOfEqualStretches) {
  const auto windows = time_windows(rising(60, 1'000'000, 1000));
  ASSERT_EQ(windows.size(), 60U);
  for (int k = 0; k < 60; ++k) {
    EXPECT_EQ(windows[k].round, k + 1);
    EXPECT_EQ(windows[k].begin_ns, k * kSecondNs);
    EXPECT_EQ(windows[k].end_ns, (k + 1) * kSecondNs);
    // The tenth before the window is its level at the begin.
    const double level = k == 0 ? 1'000'000 : 1'000'000 + 1000.0 * k - 100;
    EXPECT_NEAR(windows[k].rss_bytes, level, 100);
  }
}

TEST(TimeWindows, AValueHoldsWhereNothingWasSampled) {
  const Series series{"rss_bytes", {0, 10 * kSecondNs, 20 * kSecondNs}, {500, 300, 900}};
  const auto windows = time_windows(series);
  ASSERT_EQ(windows.size(), 60U);
  EXPECT_EQ(windows[29].rss_bytes, 500);
  EXPECT_EQ(windows[30].rss_bytes, 300);
  EXPECT_EQ(windows[59].rss_bytes, 300);
}

TEST(TimeWindows, AShortLifeHasNone) {
  EXPECT_TRUE(time_windows(rising(9, 0, 0)).empty());
  EXPECT_TRUE(time_windows({}).empty());
}

/// A trial of one role without rounds that grows by `per_second`.
RoleData unmarked(const std::string& name, std::int64_t per_second) {
  RoleData role;
  role.role = name;
  RoundData life;
  life.round = 1;
  role.rounds.push_back(life);
  role.series.push_back(rising(30, 100'000'000, per_second));
  return role;
}

TEST(TimeWindows, GiveARoleWithoutRoundsItsGrowthByTimeAlone) {
  RunData run = make_duel("peak_rss_bytes", {1}, {});
  run.job = server_and_clients(2);
  run.trials.front().roles = {unmarked("client-1", 1000), unmarked("client-2", 50'000)};
  const Observations observations = observe(run, {"a"}, 1);
  const auto& roles = observations.arms.front().trials.front().roles;
  for (const auto& [role, per_second] : {std::pair("client-1", 1000), std::pair("client-2", 50'000),
                                         std::pair("client_max", 50'000)}) {
    const Metrics& metrics = roles.at(role);
    EXPECT_NEAR(metrics.at("rss_growth_bytes_per_minute"), 60.0 * per_second, 2.0 * per_second)
        << role;
    EXPECT_FALSE(metrics.contains("rss_growth_bytes_per_round")) << role;
  }
}

}  // namespace
}  // namespace memduel
