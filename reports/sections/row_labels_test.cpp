#include "sections/row_labels.h"

#include <gtest/gtest.h>

#include "model/metric_catalogue.h"
#include "test_sample_run.h"

namespace memduel {
namespace {

const ResultRow kTime{"server", kRoundSeconds, {}, {}};

TEST(RowLabel, OmitsTheRoleOfTheOnlyTime) {
  const Sample sample = make_sample({.series = false});
  const JobFacts& job = sample.results.job;
  const ResultRow peak{"server", kPeakRss, {}, {}};
  EXPECT_EQ(row_label(job, peak, {{}, {peak, kTime}, 0}), "server peak RSS");
  EXPECT_EQ(row_label(job, kTime, {{}, {kTime}, 0}), "time per round");
  const ResultRow other{"client-1", kRoundSeconds, {}, {}};
  EXPECT_EQ(row_label(job, kTime, {{}, {kTime, other}, 0}), "server time per round");
}

}  // namespace
}  // namespace memduel
