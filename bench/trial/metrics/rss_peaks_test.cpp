#include "rss_peaks.h"

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

TEST(RssStretches, AReadingBeforeAProcessResetsItsPeakIsOfTheStretchBefore) {
  RoleTrace trace = two_marks();
  trace.has_several_processes = true;
  trace.rss.values = std::vector<std::int64_t>(trace.rss.t_ns.size(), 100);
  trace.marks[1].mark.sizes.peak = 120;
  trace.marks[1].mark.sizes.rss = 100;
  trace.exit->max_rss_bytes = 300;
  trace.process_peaks = {"", {trace.marks[0].mark.t_ns + 1}, {*trace.marks[0].mark.sizes.peak}};
  EXPECT_EQ(rss_stretches(trace)[1].peak_bytes, 120);
  trace.process_peaks.values = {130};
  EXPECT_EQ(rss_stretches(trace)[1].peak_bytes, 130) << "of another process";
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
  trace.rss.values[0] = 530;
  EXPECT_EQ(largest_process(trace), 530) << "no less than any reading of one process";
  trace.has_several_processes = true;
  EXPECT_EQ(largest_process(trace), 520) << "a reading is a sum";
}

TEST(RssStretches, WhatTheKernelCountsOfMatchedChildrenIsNotTheParents) {
  RoleTrace trace = two_marks();
  trace.has_matched_descendants = true;
  EXPECT_EQ(kernel_maximum(trace), std::nullopt);
  EXPECT_EQ(rss_stretches(trace)[2].peak_bytes, 260);
}

/// One process; the kernel saw 500 at most, samples 400.
RoleTrace sampled() {
  RoleTrace trace;
  trace.rss = {"rss_bytes", {5, 15, 25}, {190, 400, 260}};
  trace.rss_of_files = {"rss_file_bytes", {5, 15, 25}, {100, 150, 140}};
  return trace;
}

RssStretch stretch(std::int64_t begin_ns, std::int64_t end_ns, std::optional<std::int64_t> peak) {
  return {begin_ns, end_ns, peak, end_ns, false};
}

TEST(RssWithoutFiles, IsTheLargestDifferenceOfTheSamples) {
  const RoleTrace trace = sampled();
  EXPECT_EQ(largest_without_files(trace.rss, trace.rss_of_files, 0, 30), 250);
  EXPECT_EQ(largest_without_files(trace.rss, trace.rss_of_files, 15, 30), 120)
      << "after 15, of which the sample at 15 is none";
  EXPECT_EQ(largest_without_files(trace.rss, trace.rss_of_files, 5, 15), 250);
  EXPECT_FALSE(largest_without_files(trace.rss, trace.rss_of_files, 30, 40));
}

TEST(RssWithoutFiles, IsNoLessThanTheKernelsPeakWithoutTheMostThatFilesHad) {
  RoleTrace trace = sampled();
  EXPECT_EQ(peak_without_files(trace, stretch(0, 30, 500)), 350) << "500 less 150";
  EXPECT_EQ(peak_without_files(trace, stretch(0, 30, 300)), 250) << "samples saw more";
  EXPECT_EQ(peak_without_files(trace, stretch(26, 30, 500)), 360)
      << "no sample in it: files had 140 before";
  trace.has_several_processes = true;
  EXPECT_EQ(peak_without_files(trace, stretch(0, 30, 500)), 250) << "the kernel knows no sum";
}

TEST(RssWithoutFiles, KnowsWhatTheMarkAtItsEndRead) {
  RoleTrace trace = sampled();
  MarkEvent& event = trace.marks.emplace_back();
  event.mark.t_ns = 20;
  event.mark.sizes.file = 200;
  EXPECT_EQ(peak_without_files(trace, stretch(0, 20, 500)), 300);
  EXPECT_EQ(peak_without_files(trace, stretch(20, 30, 500)), 360) << "the one after it has 140";
}

TEST(RssWithoutFiles, KnowsFromTheRecorderWhatFilesHadBetweenSamples) {
  RoleTrace trace = sampled();
  trace.exit = ExitRecord{30, 0, {}, 0, 500, 0, 0};
  trace.heap_images.emplace_back().file_peak_bytes = 240;
  EXPECT_EQ(peak_without_files(trace, stretch(0, 30, 500)), 260) << "500 less 240";
  EXPECT_EQ(peak_without_files(trace, stretch(0, 20, 500)), 260) << "it may have been in this one";
  trace.rss = {};
  trace.rss_of_files = {};
  EXPECT_EQ(peak_without_files(trace, stretch(0, 30, 500)), 260) << "nothing was sampled";
}

TEST(RssWithoutFiles, IsAbsentWhereNothingTellsTheFilesPart) {
  RoleTrace trace = sampled();
  trace.rss_of_files = {};
  EXPECT_FALSE(peak_without_files(trace, stretch(0, 30, 500)));
  EXPECT_FALSE(largest_without_files(trace.rss, trace.rss_of_files, 0, 30));
}

}  // namespace
}  // namespace memduel
