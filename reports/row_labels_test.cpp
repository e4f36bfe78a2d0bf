#include "sections/row_labels.h"

#include <gtest/gtest.h>

#include "model/metric_catalogue.h"
#include "test_sample_run.h"

namespace memduel {
namespace {

const ResultRow kServer{"server", kPeakRssAboveIdle, {}, {}};
const ResultRow kTime{"server", kRoundSeconds, {}, {}};

TEST(RowLabel, OmitsAboveStartUpUnlessPeakRssHasARowOfItsOwn) {
  const Sample sample = make_sample({.series = false});
  const JobFacts& job = sample.results.job;
  EXPECT_EQ(row_label(job, kServer, {{}, {kServer, kTime}, 0}), "server peak RSS");
  const ResultRow peak{kTree, kPeakRss, {}, {}};
  EXPECT_EQ(row_label(job, kServer, {{}, {kServer, peak}, 0}), "server peak RSS above start-up");
}

TEST(RowLabel, OmitsTheRoleOfTheOnlyTime) {
  const Sample sample = make_sample({.series = false});
  const JobFacts& job = sample.results.job;
  EXPECT_EQ(row_label(job, kTime, {{}, {kTime}, 0}), "time per round");
  const ResultRow other{"client-1", kRoundSeconds, {}, {}};
  EXPECT_EQ(row_label(job, kTime, {{}, {kTime, other}, 0}), "server time per round");
}

TEST(LabelNote, StatesTheMemoryAfterStartUp) {
  Sample sample = make_sample({.series = false});
  Comparison startup = sample.results.comparisons.front();
  startup.role = "server";
  startup.metric = kIdleRss;
  startup.baseline_median = 100 << 20;
  sample.results.comparisons.push_back(startup);
  ResultRow row = kServer;
  row.comparisons = {sample.results.row(startup.candidate, "server", kPeakRssAboveIdle)};
  EXPECT_EQ(label_note(sample.results, {{}, {row}, 0}),
            "Peak RSS is counted above start-up, which takes 100.0 MiB (server).");
  EXPECT_EQ(label_note(sample.results, {{}, {kTime}, 0}), "");
}

}  // namespace
}  // namespace memduel
