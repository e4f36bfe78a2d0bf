#include "experiment/metrics/rss_peaks.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

MarkEvent reading(std::int64_t t_ns, std::optional<std::int64_t> peak, std::int64_t rss) {
  MarkEvent event;
  event.mark.kind = Mark::Kind::phase;
  event.mark.t_ns = t_ns;
  event.mark.sizes.peak = peak;
  event.mark.sizes.rss = rss;
  return event;
}

/// Three stretches that end at 10, 20 and 30; the process had 500 at most.
RoleTrace two_marks() {
  RoleTrace trace;
  trace.marks = {reading(10, 300, 200), reading(20, 400, 250)};
  trace.rss = {"rss_bytes", {5, 15, 25}, {190, 390, 260}};
  trace.exit = ExitRecord{30, 0, {}, 0, 500, 0, 0};
  return trace;
}

TEST(RssStretches, OfOneProcessAreTheKernelsAndWhatIsLargerIsAfterTheLastMark) {
  const auto stretches = rss_stretches(two_marks());
  ASSERT_EQ(stretches.size(), 3U);
  EXPECT_EQ(stretches[0].peak_bytes, 300);
  EXPECT_EQ(stretches[1].peak_bytes, 400);
  EXPECT_EQ(stretches[1].peak_ns, 15) << "of its largest sample";
  EXPECT_EQ(stretches[2].peak_bytes, 500);
  for (const RssStretch& stretch : stretches) EXPECT_FALSE(stretch.is_sampled);
}

TEST(RssStretches, AMaximumThatIsKnownAlreadyTellsNothingOfTheLast) {
  RoleTrace trace = two_marks();
  trace.exit->max_rss_bytes = 400;
  EXPECT_EQ(rss_stretches(trace)[2].peak_bytes, 260);
  EXPECT_TRUE(rss_stretches(trace)[2].is_sampled);
  trace.process_peaks = {"", {22, 29}, {250, 330}};
  EXPECT_EQ(rss_stretches(trace)[2].peak_bytes, 330) << "VmHWM of between two samples";
}

TEST(RssStretches, AMaximumOfBeforeTheTraceIsInNoneOfThem) {
  RoleTrace trace = two_marks();
  trace.earlier_peak_bytes = 500;
  EXPECT_EQ(rss_stretches(trace)[2].peak_bytes, 260);
}

TEST(RssStretches, WithoutResetsARiseOfTheLifesPeakIsTheStretchs) {
  RoleTrace trace = two_marks();
  trace.peaks_reset = false;
  trace.marks.push_back(reading(28, 400, 255));
  const auto stretches = rss_stretches(trace);
  ASSERT_EQ(stretches.size(), 4U);
  EXPECT_EQ(stretches[1].peak_bytes, 400);
  EXPECT_FALSE(stretches[1].is_sampled);
  EXPECT_EQ(stretches[2].peak_bytes, 260) << "it did not rise";
  EXPECT_TRUE(stretches[2].is_sampled);
  EXPECT_EQ(stretches[3].peak_bytes, 500);
}

TEST(RssStretches, AProgramThatExecutedASmallerOneHadItsMaximumAtFirst) {
  RoleTrace trace = two_marks();
  trace.rss.values[0] = 480;
  EXPECT_EQ(rss_stretches(trace)[0].peak_bytes, 500);
  EXPECT_EQ(rss_stretches(trace)[2].peak_bytes, 260);
}

TEST(RssStretches, OfSeveralProcessesTheMaximumIsWhereMostWasSampled) {
  RoleTrace trace = two_marks();
  trace.has_several_processes = true;
  const auto stretches = rss_stretches(trace);
  EXPECT_EQ(stretches[0].peak_bytes, 300);
  EXPECT_EQ(stretches[1].peak_bytes, 500);
  EXPECT_TRUE(stretches[1].is_sampled) << "the sum may be larger";
  EXPECT_TRUE(has_sampled_peak(trace));
}

TEST(RssStretches, OfDescendantsTheMaximumIsKnownIfTheLauncherWaitedForThem) {
  RoleTrace trace = two_marks();
  trace.exit.reset();
  trace.of_descendants = true;
  EXPECT_TRUE(has_sampled_peak(trace));
  EXPECT_EQ(largest_process(trace), 400);
  trace.reaped_max_rss_bytes = 520;
  EXPECT_FALSE(has_sampled_peak(trace));
  EXPECT_EQ(largest_process(trace), 520);
  EXPECT_EQ(rss_stretches(trace)[2].peak_bytes, 520);
}

TEST(RssStretches, WhatTheKernelCountsOfMatchedChildrenIsNotTheParents) {
  RoleTrace trace = two_marks();
  trace.has_matched_descendants = true;
  EXPECT_EQ(kernel_maximum(trace), std::nullopt);
  EXPECT_EQ(rss_stretches(trace)[2].peak_bytes, 260);
}

}  // namespace
}  // namespace memduel
