#include "reports/run_line.h"

#include <gtest/gtest.h>

#include "test_sample_run.h"

namespace memduel {
namespace {

TEST(ComparedWords, AreTheCommandsOfOneProgram) {
  Document config;
  JobProcess process;
  process.role = "command";
  process.argv = {"./old", "--load", "big file"};
  config.workload.job.processes = {process};
  config.variants.resize(1);
  EXPECT_EQ(compared_words(config), "./old --load 'big file'");
  config.variants.resize(2);
  config.variants[1].argv["command"] = {"./new", "--load", "big file"};
  EXPECT_EQ(compared_words(config), "./old --load 'big file' vs. ./new --load 'big file'");
}

TEST(ComparedWords, AreTheNamesOfVariantsThatDifferOtherwise) {
  Document config;
  config.workload.job.processes.resize(2);
  config.variants.resize(3);
  config.variants[0].name = "a";
  config.variants[1].name = "b";
  config.variants[2].name = "c";
  EXPECT_EQ(compared_words(config), "a vs. b vs. c");
}

TEST(PeakRssChange, IsThatOfTheCandidateOfTheHeadline) {
  Results results = make_sample({.series = false}).results;
  EXPECT_EQ(peak_rss_change(results), "server peak RSS −39.7%");
  results.comparisons.clear();
  EXPECT_EQ(peak_rss_change(results), "") << "nothing was compared";
}

}  // namespace
}  // namespace memduel
