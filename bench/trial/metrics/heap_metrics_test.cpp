#include "heap_metrics.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

HeapCounters image(std::int64_t peak, std::int64_t allocated, std::int64_t live,
                   std::int64_t inherited = 0) {
  HeapCounters counters;
  counters.peak_bytes = peak;
  counters.allocated_bytes = allocated;
  counters.allocations = allocated / 10;
  counters.live_bytes = live;
  counters.inherited_bytes = inherited;
  return counters;
}

HeapScope scope(int round, const std::string& phase, std::int64_t peak) {
  HeapScope scope;
  scope.round = round;
  scope.phase = phase;
  scope.peak_bytes = peak;
  scope.allocated_bytes = 2 * peak;
  scope.allocations = 3;
  return scope;
}

RoleTrace trace_of(std::vector<HeapCounters> images) {
  RoleTrace trace;
  trace.role = "server";
  trace.heap_images = std::move(images);
  return trace;
}

TEST(HeapMetrics, OfOneImageAreItsCounters) {
  RoleData data;
  data.rounds.push_back({1, 0, 10, {}, {}});
  RoleTrace trace = trace_of({image(500, 900, 40)});
  trace.heap_images.front().mapping_peak_bytes = 300;
  trace.heap_images.front().together_peak_bytes = 700;
  trace.heap_and_mapped = {"heap_and_mapped_bytes", {1, 2}, {600, 900}};  // likewise
  trace.heap = {"heap_bytes", {1, 2}, {450, 700}};  // a torn read must not beat the exact peak
  add_heap(data, trace);
  const Metrics expected = {
      {"peak_heap_bytes", 500}, {"peak_mapped_bytes", 300}, {"peak_heap_and_mapped_bytes", 700},
      {"allocated_bytes", 900}, {"allocation_count", 90},   {"live_at_end_bytes", 40}};
  EXPECT_EQ(data.metrics, expected);
  EXPECT_EQ(data.rounds.front().metrics.at("peak_heap_bytes"), 500)
      << "without marks the round is the process's life";
}

TEST(HeapMetrics, TakeSamplesWhereTouchedPagesAreNoEvents) {
  RoleData data;
  RoleTrace trace = trace_of({image(500, 900, 40)});
  trace.heap_images.front().together_peak_bytes = 700;
  trace.heap_images.front().has_sparse = true;
  trace.heap = {"heap_bytes", {1, 2}, {450, 600}};
  trace.heap_and_mapped = {"heap_and_mapped_bytes", {1, 2}, {600, 900}};
  add_heap(data, trace);
  EXPECT_EQ(data.metrics.at("peak_heap_bytes"), 500);
  EXPECT_EQ(data.metrics.at("peak_heap_and_mapped_bytes"), 900);
  trace.heap_and_mapped.values = {600, 650};
  RoleData again;
  add_heap(again, trace);
  EXPECT_EQ(again.metrics.at("peak_heap_and_mapped_bytes"), 700) << "the process itself saw more";
}

TEST(HeapMetrics, HaveTheLastSampleInRoundsThatAreShorterThanTheTimeBetweenSamples) {
  RoleData data;
  data.rounds.push_back({1, 100, 110, {}, {}});
  RoleTrace trace = trace_of({image(500, 900, 40)});
  HeapScope round = scope(1, "", 300);
  round.end_ns = 110;
  round.together_peak_bytes = 350;
  round.together_end_bytes = 330;
  trace.heap_images.front().scopes = {round};
  trace.heap_images.front().has_sparse = true;
  trace.heap_and_mapped = {"heap_and_mapped_bytes", {90, 120}, {900, 1000}};
  MarkEvent begin;
  begin.mark.kind = Mark::Kind::round_begin;
  trace.marks.push_back(begin);
  add_heap(data, trace);
  EXPECT_EQ(data.rounds.begin()->metrics.at("peak_heap_and_mapped_bytes"), 900);
  EXPECT_EQ(data.rounds.begin()->metrics.at("end_heap_and_mapped_bytes"), 900);
}

TEST(HeapMetrics, OfARoleThatCannotBeCountedAreItsSamples) {
  RoleData data;
  RoleTrace trace = trace_of({});
  trace.uncounted = {"uncounted_bytes", {1, 2}, {800, 850}};
  trace.heap_and_mapped = {"heap_and_mapped_bytes", {1, 2}, {800, 850}};
  add_heap(data, trace);
  const Metrics expected = {{"peak_heap_and_mapped_bytes", 850}};
  EXPECT_EQ(data.metrics, expected);
}

TEST(HeapMetrics, OfSeveralImagesSumWhatWasSeenTogether) {
  constexpr std::int64_t kMiB = 1 << 20;
  RoleData data;
  RoleTrace trace = trace_of({image(500 * kMiB, 900, 40), image(400 * kMiB, 100, 250, 200)});
  trace.heap = {"heap_bytes", {1, 2}, {450 * kMiB, 700 * kMiB}};
  add_heap(data, trace);
  EXPECT_EQ(data.metrics.at("peak_heap_bytes"), 700 * kMiB);
  EXPECT_EQ(data.metrics.at("allocated_bytes"), 1000);
  EXPECT_EQ(data.metrics.at("live_at_end_bytes"), 40 + 50) << "inherited bytes count once";
  trace.heap.values = {300 * kMiB, 300 * kMiB};
  RoleData missed;
  add_heap(missed, trace);
  EXPECT_EQ(missed.metrics.at("peak_heap_bytes"), 500 * kMiB) << "no less than the largest image";
}

// `uname -p`, which Python's platform module starts.
TEST(HeapMetrics, AChildWhoseOwnPeakDoesNotMatterLeavesThePeakExact) {
  constexpr std::int64_t kMiB = 1 << 20;
  const std::vector<HeapCounters> images = {
      image(300 * kMiB, 900, 40), image(305 * kMiB, 100, 0, 300 * kMiB), image(90 << 10, 100, 0)};
  EXPECT_EQ(peak_of_main_image(images), std::nullopt) << "the fork grew by 5 MiB";
  EXPECT_EQ(peak_of_main_image({images[0], images[2]}), 300 * kMiB);
  EXPECT_EQ(peak_of_main_image({}), std::nullopt);
  RoleTrace trace = trace_of({images[0], images[2]});
  trace.heap = {"heap_bytes", {1, 2}, {299 * kMiB, 300 * kMiB + (40 << 10)}};
  RoleData data;
  add_heap(data, trace);
  EXPECT_EQ(data.metrics.at("peak_heap_bytes"), 300 * kMiB);
}

HeapCounters process(std::int64_t pid, std::int64_t from_ns, std::int64_t to_ns,
                     std::int64_t peak) {
  HeapCounters counters = image(peak, peak, peak / 2);
  counters.pid = pid;
  counters.started_ns = from_ns;
  counters.ended_ns = to_ns;
  return counters;
}

// pyenv's shims: env and bash in one process, their children, then Python in the first process.
TEST(HeapMetrics, ProgramsThatRanOneAfterTheOtherLeaveThePeakExact) {
  constexpr std::int64_t kMiB = 1 << 20;
  std::vector<HeapCounters> images = {process(7, 10, 20, kMiB), process(7, 21, 50, 2 * kMiB),
                                      process(8, 30, 35, 2 * kMiB), process(9, 36, 40, 2 * kMiB),
                                      process(7, 51, 90, 5 * kMiB)};
  images[0].replaced = images[1].replaced = true;
  EXPECT_EQ(peak_of_main_image(images), 5 * kMiB);
  RoleData data;
  RoleTrace trace = trace_of(images);
  trace.heap = {"heap_bytes", {60, 70}, {kMiB, 6 * kMiB}};  // a torn read
  add_heap(data, trace);
  EXPECT_EQ(data.metrics.at("peak_heap_bytes"), 5 * kMiB);
  EXPECT_EQ(data.metrics.at("allocated_bytes"), 12 * kMiB);
  EXPECT_EQ(data.metrics.at("live_at_end_bytes"), (2 + 2 + 5) * kMiB / 2)
      << "what an image had when it executed another program is gone";
  images[4].started_ns = 39;  // beside its own children: 2 + 2 + 5
  images[4].pid = 10;
  EXPECT_EQ(peak_of_main_image(images), std::nullopt);
}

TEST(HeapMetrics, AnImageWithoutAnEndEndsWhereItsProcessGoesOn) {
  constexpr std::int64_t kMiB = 1 << 20;
  EXPECT_EQ(peak_of_main_image({process(7, 10, 0, kMiB), process(7, 20, 30, 3 * kMiB)}), 3 * kMiB);
  EXPECT_EQ(peak_of_main_image({process(7, 10, 0, kMiB), process(8, 20, 30, 3 * kMiB)}),
            std::nullopt)
      << "another process says nothing of its end";
}

TEST(HeapMetrics, PhasesOutsideRoundsAreThoseOfTheOneRound) {
  MarkEvent mark;
  mark.mark.kind = Mark::Kind::phase;
  mark.mark.name = "load";
  RoleData data;
  data.rounds = {{1, 0, 10, {}, {{"load", 0, 2, {}}, {"train", 2, 4, {}}}}};
  HeapCounters counters = image(500, 900, 40);
  counters.scopes = {scope(0, "load", 10), scope(0, "train", 20)};
  RoleTrace trace = trace_of({counters});
  trace.marks = {mark};
  add_heap(data, trace);
  EXPECT_EQ(data.rounds[0].metrics.at("peak_heap_bytes"), 500);
  EXPECT_EQ(data.rounds[0].phases[0].metrics.at("peak_heap_bytes"), 10);
  EXPECT_EQ(data.rounds[0].phases[1].metrics.at("peak_heap_bytes"), 20);
}

TEST(HeapMetrics, OfRoundsAndPhasesComeFromTheScopes) {
  RoleData data;
  MarkEvent mark;
  mark.mark.kind = Mark::Kind::round_begin;
  data.rounds = {{1, 0, 10, {}, {{"train", 0, 2, {}}, {"eval", 2, 4, {}}, {"train", 4, 6, {}}}},
                 {2, 10, 20, {}, {}}};
  HeapCounters counters = image(500, 900, 40);
  counters.scopes = {scope(1, "train", 10), scope(1, "eval", 20), scope(1, "train", 30),
                     scope(1, "", 60), scope(2, "", 70)};
  RoleTrace trace = trace_of({image(1, 10, 0), counters});
  trace.marks = {mark};
  add_heap(data, trace);
  EXPECT_EQ(data.rounds[0].metrics.at("peak_heap_bytes"), 60);
  EXPECT_EQ(data.rounds[0].metrics.at("allocated_bytes"), 120);
  EXPECT_EQ(data.rounds[1].metrics.at("peak_heap_bytes"), 70);
  EXPECT_EQ(data.rounds[0].phases[0].metrics.at("peak_heap_bytes"), 10);
  EXPECT_EQ(data.rounds[0].phases[1].metrics.at("peak_heap_bytes"), 20);
  EXPECT_EQ(data.rounds[0].phases[2].metrics.at("peak_heap_bytes"), 30);
}

TEST(TreeHeapMetrics, NeedEveryRole) {
  TrialTrace trace;
  trace.roles = {trace_of({image(500, 900, 40)}), trace_of({image(300, 100, 0)})};
  trace.tree.heap = {"heap_bytes", {5, 15}, {600, 750}};
  std::vector<RoleData> roles(2);
  RoleData tree;
  tree.rounds = {{1, 0, 10, {}, {}}, {2, 10, 20, {}, {}}};
  add_heap(roles[0], trace.roles[0]);
  add_tree_heap(tree, trace, roles);
  EXPECT_TRUE(tree.metrics.empty()) << "a role without counters makes the sum unknown";
  add_heap(roles[1], trace.roles[1]);
  add_tree_heap(tree, trace, roles);
  EXPECT_EQ(tree.metrics.at("peak_heap_bytes"), 750);
  EXPECT_EQ(tree.rounds[0].metrics.at("peak_heap_bytes"), 600);
  EXPECT_EQ(tree.rounds[1].metrics.at("peak_heap_bytes"), 750);
}

TEST(TreeHeapMetrics, OfOneImageAreExact) {
  TrialTrace trace;
  trace.roles = {trace_of({image(500, 900, 40)})};
  trace.tree.heap = {"heap_bytes", {5}, {450}};
  std::vector<RoleData> roles(1);
  roles[0].rounds = {{1, 0, 10, {}, {}}};
  RoleData tree;
  tree.rounds = roles[0].rounds;
  add_heap(roles[0], trace.roles[0]);
  add_tree_heap(tree, trace, roles);
  EXPECT_EQ(tree.metrics.at("peak_heap_bytes"), 500);
  EXPECT_EQ(tree.rounds[0].metrics.at("peak_heap_bytes"), 500);
}

}  // namespace
}  // namespace memduel
