#include "trial/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>

#include "trial/processes.h"
#include "util/error.h"

namespace memduel {
namespace {

constexpr std::int64_t kMinute = 60 * kSecondNs;
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
  // 0.2% of a minute is 120 ms: 3000 samples of 40 us.
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

TEST(SamplingPace, LooksAtAProgramThatStartsMoreOftenThanEachSteadyInterval) {
  SamplingPace pace(1'000 * kMs, 0, SamplingPace::Kind::steady);
  std::vector<std::int64_t> due = {pace.next(0, 0, false)};
  while (due.size() < 10) due.push_back(pace.next(due.back(), kMinute, false));
  EXPECT_THAT(due, ElementsAre(10 * kMs, 20 * kMs, 40 * kMs, 80 * kMs, 160 * kMs, 320 * kMs,
                               640 * kMs, 1'280 * kMs, 2'280 * kMs, 3'280 * kMs))
      << "whatever it costs, and although nothing moves";
  EXPECT_EQ(pace.next(9'000 * kMs, 0, true), 9'000 * kMs)
      << "late, and not for each that it missed";
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

class EventsOfAPipe : public testing::Test {
 protected:
  EventsOfAPipe() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~EventsOfAPipe() override {
    for (const int fd : ends_) close(fd);
  }
  void send() { ASSERT_EQ(write(ends_[1], "x", 1), 1); }

  std::array<int, 2> ends_{};
  Events events_;
  int source_ = 0;
};

TEST_F(EventsOfAPipe, EndWithWhatComes) {
  events_.add(ends_[0], &source_);
  send();
  EXPECT_THAT(events_.wait_until(monotonic_ns() + kMinute), ElementsAre(&source_));
}

TEST_F(EventsOfAPipe, EndAtTheirTimeAndNotBefore) {
  events_.add(ends_[0], &source_);
  const std::int64_t until = monotonic_ns() + 2'500'000;
  EXPECT_THAT(events_.wait_until(until), IsEmpty());
  EXPECT_GE(monotonic_ns(), until);
}

TEST_F(EventsOfAPipe, ATimeThatIsOverIsNotWaitedFor) {
  events_.add(ends_[0], &source_);
  EXPECT_THAT(events_.wait_until(monotonic_ns() - kSecondNs), IsEmpty());
}

TEST_F(EventsOfAPipe, OnceMeansUntilItIsAskedForAgain) {
  events_.add_once(ends_[0], &source_);
  send();
  EXPECT_THAT(events_.wait_until(monotonic_ns() + kMinute), ElementsAre(&source_));
  EXPECT_THAT(events_.wait_until(monotonic_ns()), IsEmpty());
  events_.rearm(ends_[0], &source_);
  EXPECT_THAT(events_.wait_until(monotonic_ns() + kMinute), ElementsAre(&source_));
}

TEST_F(EventsOfAPipe, WhatWasRemovedIsNotToldOf) {
  events_.add(ends_[0], &source_);
  send();
  events_.remove(ends_[0]);
  EXPECT_THAT(events_.wait_until(monotonic_ns()), IsEmpty());
}

TEST(Events, WithoutDescriptorsNothingCanBeWaitedFor) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  std::string message;
  try {
    const Events events;
  } catch (const Error& error) {
    message = error.message();
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_THAT(message, testing::HasSubstr("cannot wait for events: Too many open files"));
}

TEST(Events, AFileIsNeverWaitedFor) {
  Events events;
  int source = 0;
  EXPECT_THROW(events.add(-1, &source), Error);
}

}  // namespace
}  // namespace memduel
