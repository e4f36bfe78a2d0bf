// The level that memory had before a process without rounds ended: samples every 8 ms, whose level
// is known.
#include "end_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "trial/trial_trace.h"

namespace memduel {
namespace {

constexpr std::int64_t kEndMs = 1'000'000;
constexpr std::int64_t kEndMib = 1 << 20;

/// Samples of `mib` every 8 ms from `from_ms` to `to_ms`.
void add_level(Series& series, int from_ms, int to_ms, double mib) {
  for (int ms = from_ms; ms < to_ms; ms += 8) {
    series.t_ns.push_back(ms * kEndMs);
    series.values.push_back(static_cast<std::int64_t>(mib * kEndMib));
  }
}

/// Works at 130 MiB until 300 ms, idles at 10 MiB until 600 ms, exits at 620 ms.
RoleTrace idles_before_it_ends() {
  RoleTrace trace;
  trace.role = "command";
  add_level(trace.rss, 0, 300, 130);
  add_level(trace.rss, 300, 600, 10);
  trace.exit = ExitRecord{620 * kEndMs, 0, {}, 0.5, 131 * kEndMib, 175, 2};
  trace.ended_well = true;
  return trace;
}

TEST(EndState, IsTheLevelThatItIdledAt) {
  const RoleData data = role_metrics(idles_before_it_ends(), {});
  EXPECT_EQ(data.metrics.at("end_rss_bytes"), 10.0 * kEndMib);
  EXPECT_EQ(data.metrics.at("peak_rss_bytes"), 131.0 * kEndMib);
  ASSERT_EQ(data.rounds.size(), 1U);
  EXPECT_FALSE(data.rounds.front().metrics.contains("end_rss_bytes"))
      << "growth by rounds is told of rounds that end";
}

TEST(EndState, IsNotWhatIsLeftWhileItExits) {
  RoleTrace trace = idles_before_it_ends();
  add_level(trace.rss, 600, 616, 4);
  trace.rss.t_ns.push_back(619 * kEndMs);
  trace.rss.values.push_back(0);
  EXPECT_EQ(role_metrics(trace, {}).metrics.at("end_rss_bytes"), 10.0 * kEndMib);
}

TEST(EndState, IsAbsentOfAProgramThatNeverHoldsALevel) {
  RoleTrace trace = idles_before_it_ends();
  trace.rss = {"rss_bytes", {}, {}};
  for (int ms = 0; ms < 620; ms += 8) add_level(trace.rss, ms, ms + 8, ms);
  EXPECT_FALSE(role_metrics(trace, {}).metrics.contains("end_rss_bytes"));
}

TEST(EndState, IsAbsentOfAShortProgram) {
  RoleTrace trace = idles_before_it_ends();
  trace.rss = {"rss_bytes", {}, {}};
  add_level(trace.rss, 0, 60, 10);
  trace.exit->t_ns = 60 * kEndMs;
  EXPECT_FALSE(role_metrics(trace, {}).metrics.contains("end_rss_bytes"));
}

TEST(EndState, IsAbsentWhereNothingWasSampledNearTheEnd) {
  RoleTrace trace = idles_before_it_ends();
  trace.exit->t_ns = 900 * kEndMs;
  EXPECT_FALSE(role_metrics(trace, {}).metrics.contains("end_rss_bytes"));
}

TEST(EndState, TakesNoOtherLevelsPlaceForSmallMoves) {
  RoleTrace trace = idles_before_it_ends();
  add_level(trace.rss, 600, 616, 10.5);
  EXPECT_EQ(role_metrics(trace, {}).metrics.at("end_rss_bytes"), 10.5 * kEndMib)
      << "within the metric's margin of 1 MiB";
}

TEST(EndState, OfTheHeapIsItsOwnLevel) {
  RoleTrace trace = idles_before_it_ends();
  trace.heap.metric = "heap_bytes";
  add_level(trace.heap, 0, 400, 90);
  add_level(trace.heap, 400, 600, 2);
  const RoleData data = role_metrics(trace, {});
  EXPECT_EQ(data.metrics.at("end_heap_bytes"), 2.0 * kEndMib);
  EXPECT_EQ(data.metrics.at("end_rss_bytes"), 10.0 * kEndMib);
}

TEST(EndState, OfARoleWithRoundsIsThatOfItsMarks) {
  RoleTrace trace = idles_before_it_ends();
  MarkEvent begin;
  begin.mark.kind = Mark::Kind::round_begin;
  begin.mark.round = 1;
  begin.mark.t_ns = 10 * kEndMs;
  trace.marks = {begin};
  EXPECT_FALSE(role_metrics(trace, {}).metrics.contains("end_rss_bytes"))
      << "a last round that nobody ended";
}

TEST(EndState, OfAllTogetherIsOfTheirSum) {
  TrialTrace trial;
  trial.roles = {idles_before_it_ends(), idles_before_it_ends()};
  add_level(trial.tree.rss, 0, 300, 260);
  add_level(trial.tree.rss, 300, 600, 20);
  std::vector<RoleData> roles;
  for (const RoleTrace& role : trial.roles) roles.push_back(role_metrics(role, {}));
  EXPECT_EQ(tree_metrics(trial, roles).metrics.at("end_rss_bytes"), 20.0 * kEndMib);
}

/// Idles at 10 MiB until it says at 600 ms that round 2 begins, and goes on.
RoleTrace goes_on_after_a_line(Mark::Kind kind, bool is_of_line) {
  RoleTrace trace;
  add_level(trace.rss, 100, 600, 10);
  for (const auto& [ms, mib, what] :
       {std::tuple(50, 10, Mark::Kind::round_begin), std::tuple(601, 19, kind)}) {
    MarkEvent event;
    event.is_of_line = is_of_line;
    event.mark.kind = what;
    event.mark.round = ms > 600 && kind == Mark::Kind::round_begin ? 2 : 1;
    event.mark.t_ns = ms * kEndMs;
    event.mark.sizes.rss = mib * kEndMib;
    trace.marks.push_back(event);
  }
  add_level(trace.rss, 601, 609, 19);
  return trace;
}

double end_of_first_round(const RoleTrace& trace) {
  return role_metrics(trace, {}).rounds.front().metrics.at("end_rss_bytes");
}

TEST(EndState, OfARoundIsWhereItIdledBeforeTheLineOfTheNext) {
  EXPECT_EQ(end_of_first_round(goes_on_after_a_line(Mark::Kind::round_begin, true)),
            10.0 * kEndMib);
}

TEST(EndState, OfARoundIsWhatWasReadWhereTheMarkEndsItOrIsExact) {
  EXPECT_EQ(end_of_first_round(goes_on_after_a_line(Mark::Kind::round_end, true)), 19.0 * kEndMib);
  EXPECT_EQ(end_of_first_round(goes_on_after_a_line(Mark::Kind::round_begin, false)),
            19.0 * kEndMib);
}

TEST(EndState, OfARoundIsWhatWasReadWhereTheProgramMovedBeforeTheLine) {
  RoleTrace trace = goes_on_after_a_line(Mark::Kind::round_begin, true);
  std::ranges::fill(trace.rss.values.end() - 8, trace.rss.values.end(), 19 * kEndMib);
  EXPECT_EQ(end_of_first_round(trace), 19.0 * kEndMib);
}

TEST(EndState, OfARoleIsNoEarlierRoundsWhereTheLastOnesWasNotSeen) {
  RoleTrace trace = goes_on_after_a_line(Mark::Kind::round_begin, true);
  MarkEvent unseen = trace.marks.back();
  unseen.mark.t_ns += kEndMs;
  unseen.mark.round = 3;
  unseen.mark.sizes = {};
  trace.marks.push_back(unseen);
  const RoleData data = role_metrics(trace, {});
  EXPECT_FALSE(data.rounds[1].metrics.contains("end_rss_bytes"));
  EXPECT_FALSE(data.metrics.contains("end_rss_bytes"));
}

}  // namespace
}  // namespace memduel
