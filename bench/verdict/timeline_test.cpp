#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verdict/questions.h"

namespace memduel {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kSecond = 1'000'000'000;

/// One trial of 10 s that begins at 100 s, with rounds 1 and 2 at 2–6 s and 6–10 s.
RunData ten_seconds() {
  RunData run;
  TrialData trial;
  trial.id = 1;
  trial.arm = "original";
  trial.begin_ns = 100 * kSecond;
  trial.end_ns = 110 * kSecond;
  RoleData role;
  role.role = "server";
  role.rounds = {{1, 102 * kSecond, 106 * kSecond, {}, {}},
                 {2, 106 * kSecond, 110 * kSecond, {}, {}}};
  role.rounds.edit()[0].phases = {{"train", 103 * kSecond, 105 * kSecond, {}}};
  role.series = {{"rss_bytes", {}, {}}};
  trial.roles.push_back(role);
  run.trials.push_back(trial);
  return run;
}

TEST(Timelines, KeepTheHighestAndLowestValueOfEveryBucket) {
  RunData run = ten_seconds();
  // 10,000 samples of which one is a spike and one a dip: neither may be lost in 100 buckets.
  auto& series = run.trials[0].roles[0].series.edit()[0];
  for (int i = 0; i <= 10'000; ++i) {
    series.t_ns.push_back(100 * kSecond + i * kSecond / 1000);
    series.values.push_back(i == 1234 ? 900 : i == 5678 ? 3 : 100);
  }
  const auto timelines = build_timelines(run, 200);
  ASSERT_EQ(timelines.size(), 1u);
  EXPECT_EQ(timelines[0].time_buckets, 100);
  const Envelope& envelope = timelines[0].trials[0].by_time;
  ASSERT_EQ(envelope.high.size(), 100u);
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(envelope.high[i], i == 12 ? 900 : 100) << i;
    EXPECT_EQ(envelope.low[i], i == 56 ? 3 : 100) << i;
  }
}

TEST(Timelines, FillBucketsBetweenTwoSamplesWithTheValueBefore) {
  RunData run = ten_seconds();
  run.trials[0].roles[0].series.edit()[0] = {
      "rss_bytes", {100 * kSecond, 105 * kSecond, 110 * kSecond}, {7, 8, 9}};
  const Envelope envelope = build_timelines(run, 200)[0].trials[0].by_time;
  ASSERT_EQ(envelope.high.size(), 100u);
  EXPECT_EQ(envelope.high[49], 7);
  EXPECT_EQ(envelope.high[50], 8);
  EXPECT_EQ(envelope.high[98], 8);
  EXPECT_EQ(envelope.high[99], 9);
}

TEST(Timelines, AlignByRoundFromTheStartUpToTheLastRoundsEnd) {
  RunData run = ten_seconds();
  // Samples at the trial's start, at the beginning of round 2 and in the middle of round 2.
  run.trials[0].roles[0].series.edit()[0] = {
      "rss_bytes", {100 * kSecond, 106 * kSecond, 108 * kSecond}, {1, 2, 3}};
  const RoleTimeline timeline = build_timelines(run, 200)[0];
  EXPECT_EQ(timeline.first_position, 0);  // the start-up takes the place of round 0
  EXPECT_EQ(timeline.round_buckets, 100);
  EXPECT_DOUBLE_EQ(timeline.rounds_per_bucket, 0.03);
  const Envelope& envelope = timeline.trials[0].by_round;
  EXPECT_EQ(envelope.first, 0);
  ASSERT_EQ(envelope.high.size(), 84u);  // position 2.5 lies in bucket 83
  EXPECT_EQ(envelope.high[66], 2);       // position 2 lies in bucket 66
  EXPECT_EQ(envelope.high[65], 1);
  EXPECT_EQ(envelope.high[83], 3);
}

TEST(Timelines, HaveNoPlaceForAStartUpThatWasNotSampled) {
  RunData run = ten_seconds();
  const std::int64_t opening = run.trials[0].roles[0].rounds.front().begin_ns;
  run.trials[0].roles[0].series.edit()[0] = {"rss_bytes", {opening, 108 * kSecond}, {1, 2}};
  const RoleTimeline timeline = build_timelines(run, 200)[0];
  EXPECT_EQ(timeline.first_position, 1);
  EXPECT_DOUBLE_EQ(timeline.rounds_per_bucket, 0.02) << "rounds 1 and 2 in 100 buckets";
  EXPECT_EQ(timeline.trials[0].by_round.first, 0);
}

TEST(Timelines, GiveTypicalRoundsAndPhasesInSecondsAndInRounds) {
  RunData run = ten_seconds();
  run.trials[0].roles[0].series.edit()[0] = {"rss_bytes", {100 * kSecond}, {1}};
  const auto arms = build_timelines(run, 200)[0].arms;
  ASSERT_EQ(arms.size(), 1u);
  ASSERT_EQ(arms[0].rounds.size(), 2u);
  EXPECT_EQ(arms[0].rounds[0].seconds.first, 2);
  EXPECT_EQ(arms[0].rounds[0].position.second, 2);
  ASSERT_EQ(arms[0].rounds[0].phases.size(), 1u);
  const PhaseSpan& phase = arms[0].rounds[0].phases[0];
  EXPECT_EQ(phase.phase, "train");
  EXPECT_EQ(phase.seconds.first, 3);
  EXPECT_EQ(phase.position.first, 1.25);
  EXPECT_EQ(phase.position.second, 1.75);
}

TEST(Timelines, LeaveOutWarmUpAndProfileTrials) {
  RunData run = ten_seconds();
  run.trials[0].roles[0].series.edit()[0] = {"rss_bytes", {100 * kSecond}, {1}};
  run.trials[0].kind = TrialKind::warmup;
  EXPECT_TRUE(build_timelines(run, 200).empty());
}

TEST(Timelines, SurviveSeriesThatAreEmptyOrOutOfOrder) {
  RunData run = ten_seconds();
  EXPECT_TRUE(build_timelines(run, 200).empty());
  run.trials[0].roles[0].series.edit()[0] = {"rss_bytes", {105 * kSecond, 99 * kSecond}, {5, 6}};
  EXPECT_THAT(build_timelines(run, 200)[0].trials[0].by_time.high, ElementsAre(6));
}

}  // namespace
}  // namespace memduel
