#include "watched_role.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

constexpr std::int64_t kMib = 1 << 20;

MarkEvent round_mark(Mark::Kind kind, int round, std::int64_t t_ns, std::int64_t rss_bytes,
                     std::optional<std::int64_t> peak = std::nullopt) {
  MarkEvent event;
  event.mark.kind = kind;
  event.mark.round = round;
  event.mark.t_ns = t_ns;
  event.mark.sizes.rss = rss_bytes;
  event.mark.sizes.peak = peak;
  return event;
}

MarkEvent gauge(const std::string& name, double value, std::int64_t t_ns) {
  MarkEvent event;
  event.mark.kind = Mark::Kind::gauge;
  event.mark.name = name;
  event.mark.value = value;
  event.mark.t_ns = t_ns;
  return event;
}

std::vector<RoundData> ended_rounds(WatchedRole& role) {
  return role.take_data({}).rounds;
}

/// As logs mark rounds: where one begins the one before ends, in the same reading.
void begin_round(WatchedRole& role, int round, std::int64_t t_ns, std::int64_t rss_bytes,
                 std::int64_t peak) {
  if (role.running_round())
    role.take(round_mark(Mark::Kind::round_end, *role.running_round(), t_ns, rss_bytes, peak));
  role.take(round_mark(Mark::Kind::round_begin, round, t_ns, rss_bytes,
                       round == 1 ? std::optional(peak) : std::nullopt));
}

TEST(WatchedRole, HandsRoundsOverAsTheyEnd) {
  WatchedRole role("command", 0, true);
  role.sample(5, 50 * kMib);
  begin_round(role, 1, 10, 60 * kMib, 70 * kMib);
  EXPECT_TRUE(ended_rounds(role).empty());
  EXPECT_EQ(role.running_round(), 1);
  role.sample(15, 300 * kMib);
  begin_round(role, 2, 20, 61 * kMib, 310 * kMib);
  std::vector<RoundData> rounds = ended_rounds(role);
  ASSERT_EQ(rounds.size(), 1U);
  EXPECT_EQ(rounds[0].round, 1);
  EXPECT_EQ(rounds[0].begin_ns, 10);
  EXPECT_EQ(rounds[0].end_ns, 20);
  EXPECT_EQ(rounds[0].metrics.at("end_rss_bytes"), 61.0 * kMib);
  EXPECT_EQ(rounds[0].metrics.at("peak_rss_bytes"), 310.0 * kMib);
  begin_round(role, 3, 30, 62 * kMib, 80 * kMib);
  rounds = ended_rounds(role);
  ASSERT_EQ(rounds.size(), 1U);
  EXPECT_EQ(rounds[0].metrics.at("peak_rss_bytes"), 80.0 * kMib) << "not the first round's";
  role.finish({40, true, std::nullopt});
  rounds = ended_rounds(role);
  ASSERT_EQ(rounds.size(), 1U) << "the last one ended with the role";
  EXPECT_EQ(rounds[0].round, 3);
  EXPECT_EQ(rounds[0].end_ns, 40);
  EXPECT_EQ(rounds[0].metrics.count("end_rss_bytes"), 0U) << "nobody read it";
  EXPECT_EQ(rounds[0].metrics.at("peak_rss_bytes"), 62.0 * kMib) << "as it began";
  const Metrics& metrics = role.metrics();
  EXPECT_EQ(metrics.at("peak_rss_bytes"), 310.0 * kMib);
  EXPECT_EQ(metrics.at("end_rss_bytes"), 62.0 * kMib);
  EXPECT_FALSE(metrics.contains("idle_rss_bytes")) << "no mark said idle";
}

TEST(WatchedRole, ClosesARoundWhereTheNextBeginsWithoutAnEnd) {
  WatchedRole role("command", 0, false);
  for (int round = 1; round <= 3; ++round)
    role.take(
        round_mark(Mark::Kind::round_begin, round, 10 * round, round * kMib, (100 + round) * kMib));
  const std::vector<RoundData> rounds = ended_rounds(role);
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_EQ(rounds[0].metrics.at("end_rss_bytes"), 2.0 * kMib);
  EXPECT_EQ(rounds[1].metrics.at("end_rss_bytes"), 3.0 * kMib);
  EXPECT_EQ(rounds[0].metrics.at("peak_rss_bytes"), 102.0 * kMib);
  EXPECT_EQ(rounds[1].metrics.at("peak_rss_bytes"), 103.0 * kMib);
  EXPECT_EQ(role.metrics().count("idle_rss_bytes"), 0U)
      << "a program that was there before has no idle level";
}

TEST(WatchedRole, ARoundThatAFailureCutShortIsNone) {
  WatchedRole role("command", 0, true);
  begin_round(role, 1, 10, kMib, kMib);
  role.finish({40, false, std::nullopt});
  EXPECT_TRUE(ended_rounds(role).empty());
}

TEST(WatchedRole, WithoutRoundsIsOneRoundAndKeepsLaterGauges) {
  WatchedRole role("command", 0, true);
  for (int at = 0; at < 50'000; ++at) role.take(gauge("loss", at, at));
  role.sample(60'000, 7 * kMib);
  ExitRecord exit;
  exit.status = 0;
  exit.cpu_seconds = 1.5;
  exit.max_rss_bytes = 9 * kMib;
  role.finish({70'000, true, exit});
  const std::vector<RoundData> rounds = ended_rounds(role);
  ASSERT_EQ(rounds.size(), 1U);
  EXPECT_EQ(rounds[0].round, 1);
  EXPECT_EQ(role.metrics().at("loss"), 49'999);
  EXPECT_EQ(role.metrics().at("cpu_seconds"), 1.5);
  EXPECT_EQ(role.metrics().at("peak_rss_bytes"), 9.0 * kMib);
  EXPECT_EQ(role.marks_dropped(), 0);
}

TEST(WatchedRole, ItsPeakIsTheLargestOfItsRoundsAndOfWhatIsBesides) {
  WatchedRole role("command", 0, true);
  begin_round(role, 1, 10, 60 * kMib, 400 * kMib);
  begin_round(role, 2, 20, 61 * kMib, 310 * kMib);
  role.take(round_mark(Mark::Kind::round_end, 2, 30, 62 * kMib, 80 * kMib));
  ExitRecord exit;
  exit.status = 0;
  exit.max_rss_bytes = 500 * kMib;
  role.finish({40, true, exit});
  EXPECT_EQ(role.metrics().at("peak_rss_bytes"), 500.0 * kMib);
  const RoleData data = role.take_data({});
  EXPECT_FALSE(data.peak_rss_is_sampled);
  const std::vector<OutsideRounds>& parts = data.outside_rounds;
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].part, TrialPart::start_up);
  EXPECT_EQ(parts[0].peak_rss_bytes, 400.0 * kMib);
  EXPECT_EQ(parts[1].part, TrialPart::between_rounds);
  EXPECT_EQ(parts[2].part, TrialPart::after_rounds);
  EXPECT_EQ(parts[2].peak_rss_bytes, 500.0 * kMib);
}

TEST(WatchedRole, WhatWasNeverReadIsAbsentAndNotZero) {
  WatchedRole role("command", 0, true);
  ExitRecord exit;
  exit.status = 0;
  role.finish({70'000, true, exit});
  EXPECT_EQ(role.metrics().count("peak_rss_bytes"), 0U);
  EXPECT_EQ(ended_rounds(role).at(0).metrics.count("peak_rss_bytes"), 0U);
}

TEST(WatchedRole, CountsTheMarksOfARoundThatAreTooMany) {
  WatchedRole role("command", 0, true);
  begin_round(role, 1, 1, kMib, kMib);
  for (int at = 0; at < 12'000; ++at) role.take(gauge("loss", at, 2 + at));
  begin_round(role, 2, 20'000, kMib, kMib);
  EXPECT_EQ(role.marks_dropped(), 2'001);
  EXPECT_EQ(ended_rounds(role).size(), 1U);
}

TEST(WatchedRole, AddsPssToTheRoundThatItWasReadAtTheEndOf) {
  WatchedRole role("command", 0, true);
  begin_round(role, 1, 1'000'000'000, kMib, kMib);
  role.add_sweep({1'950'000'000, {{"command", 3.0 * kMib}}, true});
  begin_round(role, 2, 2'000'000'000, kMib, kMib);
  const std::vector<RoundData> rounds = ended_rounds(role);
  ASSERT_EQ(rounds.size(), 1U);
  EXPECT_EQ(rounds[0].metrics.at("end_pss_bytes"), 3.0 * kMib);
  EXPECT_EQ(role.metrics().at("peak_pss_bytes"), 3.0 * kMib);
}

TEST(WatchedRole, HasASampledPeakWhereTheKernelsMaximumIsNotKnown) {
  for (const std::int64_t known : {std::int64_t{0}, 9 * kMib}) {
    WatchedRole role("command", 0, true);
    role.sample(60'000, 7 * kMib);
    ExitRecord exit;
    exit.status = 0;
    exit.max_rss_bytes = known;
    role.finish({70'000, true, exit});
    EXPECT_EQ(ended_rounds(role).front().peak_rss_is_sampled, known == 0);
  }
}

TEST(WatchedRounds, KeepsEvenlySpacedOnesFromTheFirst) {
  WatchedRounds rounds(8);
  for (int round = 1; round <= 16; ++round) rounds.add({round, 0, 0, 0});
  std::vector<int> kept;
  for (const RoundEnd& end : rounds.kept()) kept.push_back(end.round);
  EXPECT_THAT(kept, testing::ElementsAre(1, 5, 9, 13));
  EXPECT_EQ(rounds.count(), 16);
}

TEST(WatchedRounds, StaysBounded) {
  WatchedRounds rounds(128);
  for (int round = 1; round <= 1'000'000; ++round) {
    rounds.add({round, 0, 0, 0});
    ASSERT_LT(rounds.kept().size(), 128U);
  }
  EXPECT_GE(rounds.kept().size(), 60U);
  EXPECT_EQ(rounds.kept().front().round, 1);
  EXPECT_GT(rounds.kept().back().round, 980'000);
}

}  // namespace
}  // namespace memduel
