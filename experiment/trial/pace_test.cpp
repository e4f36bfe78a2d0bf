#include "experiment/trial/pace.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

constexpr std::int64_t kMs = 1'000'000;

struct Sampled {
  int count = 0;
  double share = 0;
};

/// Samples for a minute of simulated time at `cost_ns` each.
Sampled simulate(std::int64_t cost_ns, bool moving) {
  SamplingPace pace(2 * kMs, 0);
  Sampled sampled;
  std::int64_t now = 0;
  std::int64_t cpu = 0;
  while (now < 60'000 * kMs) {
    cpu += cost_ns;
    ++sampled.count;
    now = pace.next(now, cpu, moving);
  }
  sampled.share = static_cast<double>(cpu) / static_cast<double>(now);
  return sampled;
}

TEST(SamplingPace, KeepsTheConfiguredIntervalWhereSamplesAreCheap) {
  EXPECT_EQ(simulate(3'000, true).count, 30'000);
}

TEST(SamplingPace, StretchesTheIntervalToItsShareOfTheTime) {
  const Sampled sampled = simulate(40'000, true);
  EXPECT_NEAR(sampled.share, SamplingPace::kShare, 0.0005);
  // 0.2 % of a minute is 120 ms: 3000 samples of 40 us.
  EXPECT_NEAR(sampled.count, 3'000, 250);
}

TEST(SamplingPace, LooksFourTimesMoreRarelyWhileNothingMoves) {
  EXPECT_NEAR(simulate(10'000, false).count, 7'500, 20);
}

TEST(SamplingPace, NeverStretchesBeyondItsLimit) {
  SamplingPace pace(2 * kMs, 0);
  std::int64_t next = 0;
  for (int sample = 0; sample < 100; ++sample) next = pace.next(0, 1'000'000 * kMs, true);
  EXPECT_EQ(next, static_cast<std::int64_t>(SamplingPace::kMaxStretch) * 2 * kMs);
}

TEST(CostlyReadings, TheFirstIsFreeAndTheNextWaitsUntilItIsPaid) {
  CostlyReadings readings(0, false);
  EXPECT_TRUE(readings.affordable(0));
  readings.spent(15 * kMs);
  EXPECT_FALSE(readings.affordable(9'999 * kMs));
  EXPECT_TRUE(readings.affordable(10'001 * kMs));
}

TEST(CostlyReadings, OneIsKeptForTheEnd) {
  CostlyReadings readings(0, true);
  EXPECT_FALSE(readings.affordable(9'999 * kMs));
  EXPECT_TRUE(readings.affordable(10'001 * kMs));
}

}  // namespace
}  // namespace memduel
