#include "experiment/metrics/rss_without_files.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

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
