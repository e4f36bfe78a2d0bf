#include <gmock/gmock.h>

#include "reports/terminal.h"
#include "util/text.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kMib = 1 << 20;
constexpr std::int64_t kOneSecond = 1'000'000'000;

WatchSnapshot leaking() {
  WatchSnapshot snapshot;
  snapshot.what = "python3 train.py";
  snapshot.elapsed_seconds = 725;
  snapshot.processes = 3;
  snapshot.samples = 725;
  snapshot.rss_bytes = 240 * kMib;
  snapshot.peak_rss_bytes = 300 * kMib;
  snapshot.pss_bytes = 220 * kMib;
  snapshot.peak_pss_bytes = 260 * kMib;
  snapshot.rss_at_peak_pss_bytes = 290 * kMib;
  snapshot.pss_age_seconds = 35.7;
  snapshot.running_round = 41;
  snapshot.rounds_ended = 40;
  for (int round = 1; round <= 60; ++round) {
    snapshot.round_ends.push_back({round, (round - 1) * 3 * kOneSecond, round * 3 * kOneSecond,
                                   static_cast<double>((200 + round) * kMib)});
    snapshot.rss.t_ns.push_back(round * 3 * kOneSecond);
    snapshot.rss.values.push_back((200 + round) * kMib);
  }
  snapshot.limit =
      WatchSnapshot::Limit{"its control group", 1000.0 * kMib, 870.0 * kMib, 0.85, 0.9};
  return snapshot;
}

TEST(WatchView, ShowsMemoryGrowthAndWhereItLeads) {
  const std::vector<std::string> lines = watch_screen(leaking(), {});
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0], "python3 train.py · 12 min 05 s · 3 processes");
  EXPECT_EQ(lines[1], "RSS 240.0 MiB, peak 300.0 MiB");
  EXPECT_EQ(lines[2], "PSS 220.0 MiB (35.0 s ago)");
  EXPECT_THAT(lines[3], AllOf(HasSubstr("▁"), HasSubstr("█"), HasSubstr("201.0 MiB to 260.0 MiB")));
  EXPECT_EQ(lines[4], "round 41, 40 rounds ended: +1.00 MiB per round, +20.0 MiB per minute");
  EXPECT_EQ(lines[5],
            "limit 1000.0 MiB (its control group): 87% used, met in 130 rounds, 6 min 30 s");
}

TEST(WatchView, FitsItsColumnsWhateverIsWatched) {
  WatchSnapshot snapshot = leaking();
  snapshot.what = "python3 " + std::string(300, 'x') + "\033[31m";
  for (int at = 0; at < 5000; ++at) {
    snapshot.rss.t_ns.push_back((200 + at) * kOneSecond);
    snapshot.rss.values.push_back((200 + at % 100) * kMib);
  }
  for (const int width : {40, 80, 120}) {
    TerminalOptions options;
    options.width = width;
    for (const std::string& line : watch_screen(snapshot, options)) {
      EXPECT_LE(count_characters(line), static_cast<std::size_t>(width)) << line;
      EXPECT_THAT(line, Not(HasSubstr("\033")));
    }
  }
  EXPECT_LE(count_characters(watch_line(snapshot)), 80U);
}

TEST(WatchView, ColoursTheLimitByItsThresholdsOnlyWhereColourIsWanted) {
  TerminalOptions options;
  options.color = true;
  WatchSnapshot snapshot = leaking();
  EXPECT_THAT(watch_screen(snapshot, options).back(), HasSubstr("\033[33m"));
  snapshot.limit->used_bytes = 950.0 * kMib;
  EXPECT_THAT(watch_screen(snapshot, options).back(), HasSubstr("\033[31m"));
  snapshot.limit->used_bytes = 100.0 * kMib;
  EXPECT_THAT(watch_screen(snapshot, options).back(), Not(HasSubstr("\033")));
}

TEST(WatchView, IsOneLineWithoutATerminal) {
  WatchSnapshot snapshot = leaking();
  snapshot.pss_age_seconds = 0.5;
  EXPECT_EQ(watch_line(snapshot),
            "12 min 05 s  rss 240.0 MiB  pss 220.0 MiB  round 41  +1.00 MiB/round  limit 87%");
  EXPECT_EQ(watch_line(leaking()),
            "12 min 05 s  rss 240.0 MiB  round 41  +1.00 MiB/round  limit 87%")
      << "PSS is 36 s old";
  WatchSnapshot begun;
  EXPECT_EQ(watch_line(begun), "0.0 ms  rss -");
}

TEST(WatchView, SumsUpWithoutAVerdict) {
  EXPECT_EQ(watch_summary(leaking(), 80),
            "watched python3 train.py for 12 min 05 s, 725 samples: RSS at most 300.0 MiB;\n"
            "  round 41, 40 rounds ended. PSS was at most 260.0 MiB. Growth after warm-up\n"
            "  +1.00 MiB per round, +20.0 MiB per minute; at that rate the 1000.0 MiB of its\n"
            "  control group are met in 130 rounds, 6 min 30 s. One run has a slope but no\n"
            "  verdict.\n");
  WatchSnapshot early = leaking();
  early.rss_at_peak_pss_bytes = 3 * kMib;
  EXPECT_THAT(watch_summary(early, 80), Not(HasSubstr("PSS"))) << "it was read at the start";
  WatchSnapshot begun;
  begun.what = "pid 812";
  EXPECT_EQ(watch_summary(begun, 80),
            "watched pid 812 for 0.0 ms, 0 samples: RSS at most -; no rounds.\n");
}

}  // namespace
}  // namespace memduel
