#include "trial_growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/synthetic_run.h"
#include "util/bytes.h"
#include "verdict/questions.h"

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

using testing::ElementsAre;
using testing::IsEmpty;

/// 2 rounds of warm-up, then 8 that count.
LiveAtRoundEnds ten_rounds() {
  LiveAtRoundEnds live;
  LiveStack leak{{"main", "keep"}, "upload", {}};
  LiveStack model{{"main", "load"}, "", {}};
  LiveStack once{{"main", "cache"}, "", {}};
  LiveStack crumbs{{"main", "log"}, "", {}};
  for (int round = 1; round <= 10; ++round) {
    live.rounds.push_back(round);
    leak.bytes.push_back(262144.0 * round);
    model.bytes.push_back(1e9);
    once.bytes.push_back(round < 4 ? 0 : 5e6);
    crumbs.bytes.push_back(100.0 * round);
  }
  live.stacks = {model, once, crumbs, leak};
  return live;
}

TEST(GrowingStacks, AreThoseThatHaveMoreFromRoundToRound) {
  const auto stacks = growing_stacks(ten_rounds(), 270'000, 0);
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_THAT(stacks[0].stack, ElementsAre("main", "keep"));
  EXPECT_EQ(stacks[0].phase, "upload");
  EXPECT_EQ(stacks[0].bytes_per_round, 262144);
  EXPECT_EQ(stacks[0].last_bytes, 10 * 262144);
}

TEST(GrowingStacks, NeedThreeRoundsAfterWarmUp) {
  LiveAtRoundEnds live = ten_rounds();
  live.rounds.resize(4);
  EXPECT_THAT(growing_stacks(live, 270'000, 0), IsEmpty());
}

TEST(GrowingStacks, AreAskedForWhereGrowthReachesTheMargin) {
  Growth row;
  row.metric = "rss_growth_bytes_per_round";
  row.slope = 64 * 1024;
  EXPECT_TRUE(asks_for_stacks(row));
  row.slope = 64 * 1024 - 1;
  EXPECT_FALSE(asks_for_stacks(row));
  row.metric = "rss_growth_bytes_per_minute";
  row.slope = 1e9;
  EXPECT_FALSE(asks_for_stacks(row)) << "the retention matrix has rounds";
}

constexpr std::int64_t kOneSecond = 1'000'000'000;

/// Rounds of three seconds, each a MiB larger, 100 MiB left.
WatchSnapshot growing() {
  WatchSnapshot snapshot;
  for (int round = 1; round <= 60; ++round)
    snapshot.round_ends.push_back(
        {round, (round - 1) * 3 * kOneSecond, round * 3 * kOneSecond, (200 + round) * kMiB});
  snapshot.limit = WatchSnapshot::Limit{"this machine", 1000 * kMiB, 900 * kMiB, 0.85, 0.9};
  return snapshot;
}

TEST(GrowthNow, LeadsToTheLimitByRoundsAndMinutes) {
  const GrowthNow now = growth_now(growing());
  EXPECT_NEAR(now.bytes_per_round.value(), kMiB, 1e-3);
  EXPECT_NEAR(now.bytes_per_minute.value(), 20 * kMiB, 1e-3);
  EXPECT_NEAR(now.rounds_left.value(), 100, 1e-3);
  EXPECT_NEAR(now.minutes_left.value(), 5, 1e-3);
}

TEST(GrowthNow, ProjectsNothingFromGrowthBelowTheMargin) {
  WatchSnapshot snapshot = growing();
  for (RoundEnd& end : snapshot.round_ends)
    end.rss_bytes = 200 * kMiB + end.round * 1024.0;  // 102,400 rounds to go
  const GrowthNow now = growth_now(snapshot);
  EXPECT_NEAR(now.bytes_per_round.value(), 1024, 1e-3);
  EXPECT_FALSE(now.rounds_left.has_value());
  EXPECT_FALSE(now.minutes_left.has_value());
}

TEST(GrowthNow, GoesByTimeWithoutRounds) {
  WatchSnapshot snapshot;
  for (int second = 0; second <= 100; ++second) {
    snapshot.rss.t_ns.push_back(second * kOneSecond);
    snapshot.rss.values.push_back((50 + second) << 20);
  }
  const GrowthNow now = growth_now(snapshot);
  EXPECT_FALSE(now.bytes_per_round.has_value());
  EXPECT_NEAR(now.bytes_per_minute.value(), 60 * kMiB, 0.001 * 60 * kMiB);
  EXPECT_FALSE(now.minutes_left.has_value()) << "no limit is known";
}

TEST(GrowthNow, SaysNothingOfTheFirstRounds) {
  WatchSnapshot snapshot = growing();
  snapshot.round_ends.resize(4);
  EXPECT_FALSE(growth_now(snapshot).bytes_per_round.has_value());
}

}  // namespace
}  // namespace memduel
