#include "sampled_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trial/trial_trace.h"

namespace memduel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Pair;

MarkEvent gpu_mark(std::int64_t t_ns, Mark::Kind kind, int round, std::optional<double> used) {
  MarkEvent event;
  event.mark.kind = kind;
  event.mark.t_ns = t_ns;
  event.mark.round = round;
  if (used) event.reading.values["gpu_used_bytes"] = *used;
  return event;
}

using Kind = Mark::Kind;

/// A context of 500 is there at the idle mark; round 1 peaks in a sample, round 2 at its own end.
RoleTrace on_a_device() {
  RoleTrace trace;
  trace.role = "client-1";
  trace.others["gpu_used_bytes"] = {"gpu_used_bytes", {5, 15, 25}, {300, 900, 700}};
  trace.marks = {gpu_mark(10, Kind::idle, 0, 500), gpu_mark(12, Kind::round_begin, 1, 600),
                 gpu_mark(20, Kind::round_end, 1, 650), gpu_mark(21, Kind::round_begin, 2, 650),
                 gpu_mark(30, Kind::round_end, 2, 800)};
  return trace;
}

TEST(GpuMetrics, ARoleHasPeaksAnIdleLevelAndWhatItUsesAtRoundEnds) {
  const RoleData data = role_metrics(on_a_device(), {});
  EXPECT_THAT(
      data.metrics,
      IsSupersetOf({Pair("idle_gpu_used_bytes", 500.0), Pair("peak_gpu_used_bytes", 900.0),
                    Pair("peak_gpu_used_above_idle_bytes", 400.0), Pair("gpu_used_bytes", 800.0)}));
  ASSERT_EQ(data.rounds.size(), 2U);
  EXPECT_THAT(data.rounds[0].metrics,
              IsSupersetOf({Pair("peak_gpu_used_bytes", 900.0), Pair("gpu_used_bytes", 650.0)}));
  EXPECT_THAT(data.rounds[1].metrics,
              IsSupersetOf({Pair("peak_gpu_used_bytes", 800.0), Pair("gpu_used_bytes", 800.0)}));
  EXPECT_THAT(data.series.back().t_ns, ElementsAre(5, 10, 12, 15, 20, 21, 25, 30));
  EXPECT_THAT(data.series.back().values, ElementsAre(300, 500, 600, 900, 650, 650, 700, 800));
}

TEST(GpuMetrics, ARoleThatTheDriverDoesNotNameHasNone) {
  RoleTrace trace = on_a_device();
  trace.others.clear();
  for (MarkEvent& event : trace.marks) event.reading = {};
  const RoleData data = role_metrics(trace, {});
  for (const char* name : {"gpu_used_bytes", "idle_gpu_used_bytes", "peak_gpu_used_bytes",
                           "peak_gpu_used_above_idle_bytes"})
    EXPECT_FALSE(data.metrics.contains(name)) << name;
}

TEST(GpuMetrics, WithoutAnIdleMarkThereIsNoLevelToSubtract) {
  RoleTrace trace = on_a_device();
  trace.marks.erase(trace.marks.begin());
  const RoleData data = role_metrics(trace, {});
  EXPECT_EQ(data.metrics.at("peak_gpu_used_bytes"), 900);
  EXPECT_FALSE(data.metrics.contains("peak_gpu_used_above_idle_bytes"));
}

TEST(GpuMetrics, TheTreeIsTheWholeDeviceAboveItsFirstSample) {
  TrialTrace trace;
  trace.roles = {on_a_device()};
  trace.tree.others["gpu_used_bytes"] = {"gpu_used_bytes", {1, 14, 28}, {2000, 2950, 2800}};
  const std::vector<RoleData> roles = {role_metrics(trace.roles[0], {})};
  const RoleData tree = tree_metrics(trace, roles);
  EXPECT_THAT(tree.metrics, IsSupersetOf({Pair("idle_gpu_used_bytes", 2000.0),
                                          Pair("peak_gpu_used_bytes", 2950.0),
                                          Pair("peak_gpu_used_above_idle_bytes", 950.0)}));
  ASSERT_EQ(tree.rounds.size(), 2U);
  EXPECT_EQ(tree.rounds[0].metrics.at("peak_gpu_used_bytes"), 2950);
  EXPECT_EQ(tree.rounds[1].metrics.at("peak_gpu_used_bytes"), 2800);
}

}  // namespace
}  // namespace memduel
