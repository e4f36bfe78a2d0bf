#include <gmock/gmock.h>

#include "model/metric_catalogue.h"
#include "verdict/questions.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TrialData trial(const std::string& arm, double fit, double evaluate) {
  RoleData server;
  server.role = "server";
  for (int round = 1; round <= 2; ++round) {
    RoundData data;
    data.round = round;
    data.phases = {{"fit", 0, 1, {{"peak_rss_bytes", fit + round}}},
                   {"evaluate", 1, 2, {{"peak_rss_bytes", evaluate + round}}}};
    server.rounds.edit().push_back(data);
  }
  TrialData data;
  data.arm = arm;
  data.kind = TrialKind::measure;
  data.status = TrialStatus::ok;
  data.roles = {server};
  return data;
}

std::vector<Note> moved(const TrialData& before, const TrialData& after) {
  RunData run;
  run.trials = {before, after};
  return moved_peaks(run, "a",
                     {{"b", "server", "peak", "malloc"}, {"b", "server", "peak", "mapped"}});
}

TEST(MovedPeaks, AreSaidOnceARoleWithBothPhases) {
  const std::vector<Note> notes = moved(trial("a", 900, 700), trial("b", 600, 700));
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_EQ(notes[0].code, "peak_moved");
  EXPECT_THAT(notes[0].message,
              HasSubstr("the peak of server is in phase fit with a but in phase evaluate with b"));
}

TEST(MovedPeaks, AreNoneWherePeaksStayOrPhasesAreAlike) {
  EXPECT_THAT(moved(trial("a", 900, 700), trial("b", 800, 700)), IsEmpty());
  EXPECT_THAT(moved(trial("a", 705, 700), trial("b", 600, 700)), IsEmpty()) << "within a fiftieth";
  EXPECT_THAT(moved(TrialData{}, trial("b", 600, 700)), IsEmpty()) << "no phases of the baseline";
}

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr double kMiB = 1 << 20;

Comparison row(const char* metric, double before, double after, Verdict verdict) {
  Comparison row;
  row.baseline = "a";
  row.candidate = "b";
  row.role = kTree;
  row.metric = metric;
  row.baseline_median = before * kMiB;
  row.candidate_median = after * kMiB;
  row.verdict = verdict;
  return row;
}

GateResult gate(const char* metric, GateOutcome outcome) {
  GateResult gate;
  gate.role = kTree;
  gate.metric = metric;
  gate.baseline = "a";
  gate.candidate = "b";
  gate.outcome = outcome;
  return gate;
}

/// 50 MiB more resident memory, `of_files` of them pages of files; the gate on the heap passed.
Results results(double of_files) {
  Results results;
  results.baseline = "a";
  results.comparisons = {row(kPeakHeap, 2, 2, Verdict::unchanged),
                         row(kPeakRss, 10, 60, Verdict::regressed),
                         row(kPeakRssNoFiles, 5, 55 - of_files, Verdict::unchanged)};
  results.gates = {gate(kPeakHeap, GateOutcome::passed)};
  return results;
}

TEST(UngatedRss, IsToldWithItsPagesOfFiles) {
  Results found = results(49);
  Difference file;
  file.candidate = "b";
  file.kind = "resident";
  file.stack = {"file:t.db", "shared"};
  file.bytes = 49 * kMiB;
  found.differences = {file};
  const auto notes = ungated_rss(found);
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_EQ(notes[0].code, "rss_beyond_margin");
  EXPECT_THAT(notes[0].message,
              AllOf(HasSubstr("b has 50.0 MiB more peak RSS than a (10.0 MiB → 60.0 MiB)"),
                    HasSubstr("49.0 MiB of it are pages of mapped files (t.db)"),
                    HasSubstr("can reclaim")));
}

TEST(UngatedRss, OfAnotherKindIsToldWithoutFiles) {
  const auto notes = ungated_rss(results(0));
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_THAT(notes[0].message, Not(HasSubstr("files")));
}

TEST(UngatedRss, IsNoNewsWhereAGateAsksForItOrFailed) {
  Results found = results(0);
  found.gates.push_back(gate(kPeakRss, GateOutcome::passed));
  EXPECT_THAT(ungated_rss(found), IsEmpty());
  found = results(0);
  found.gates[0].outcome = GateOutcome::failed;
  EXPECT_THAT(ungated_rss(found), IsEmpty());
  found = results(0);
  found.gates.clear();
  EXPECT_THAT(ungated_rss(found), IsEmpty());
}

TEST(UngatedRss, IsNoNewsWhereARowOfAGateRisesWithIt) {
  Results found = results(0);
  found.comparisons[2].gate = true;
  EXPECT_THAT(ungated_rss(found), IsEmpty()) << "50 MiB as well";
  found = results(49);
  found.comparisons[2].gate = true;
  EXPECT_THAT(ungated_rss(found), SizeIs(1)) << "1 MiB";
}

TEST(UngatedRss, WithinTheMarginOrWithinTheNoiseIsNone) {
  Results found = results(0);
  found.comparisons[1] = row(kPeakRss, 10, 10.9, Verdict::regressed);
  EXPECT_THAT(ungated_rss(found), IsEmpty()) << "the margin is 1 MiB";
  found.comparisons[1] = row(kPeakRss, 10, 60, Verdict::inconclusive);
  EXPECT_THAT(ungated_rss(found), IsEmpty());
  found.comparisons[1].apart = true;
  EXPECT_THAT(ungated_rss(found), SizeIs(1)) << "no value of one side within those of the other";
}

/// Trials of one variant, with these medians in MiB.
Results alone(double heap, double rss) {
  Results results;
  results.arms.emplace_back().name = "command";
  for (const double more : {-0.5, 0.0, 0.5}) {
    TrialData trial = TrialData{};
    trial.arm = "command";
    trial.kind = TrialKind::measure;
    trial.status = TrialStatus::ok;
    RoleData& role = trial.roles.emplace_back();
    role.role = kTree;
    role.metrics = {{kPeakHeap, (heap + more) * kMiB}, {kPeakRss, (rss + more) * kMiB}};
    results.trials.push_back(trial);
  }
  return results;
}

TEST(UntouchedHeap, IsToldWithBothMedians) {
  const auto notes = untouched_heap(alone(211, 17));
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_EQ(notes[0].code, "heap_above_rss");
  EXPECT_THAT(notes[0].message,
              HasSubstr("command (peak heap 211.0 MiB, peak RSS 17.0 MiB) requests more heap"));
}

TEST(UntouchedHeap, IsNoneIfMostOfTheHeapIsResidentOrTheRestIsSmall) {
  EXPECT_THAT(untouched_heap(alone(20, 17)), IsEmpty());
  EXPECT_THAT(untouched_heap(alone(4, 1)), IsEmpty());
  EXPECT_THAT(untouched_heap(alone(15, 17)), IsEmpty());
}

}  // namespace
}  // namespace memduel
