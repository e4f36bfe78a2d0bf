#include "analysis/questions/watch_snapshot.h"

#include <gtest/gtest.h>

#include "base/byte_units.h"

namespace memduel {
namespace {

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
