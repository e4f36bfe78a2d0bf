#include "base/metric_catalogue.h"

#include <gtest/gtest.h>

#include <set>

namespace memduel {
namespace {

TEST(Metrics, HaveTheMarginsOfTheDesign) {
  EXPECT_EQ(metric_info("peak_rss_bytes").relative_margin, 0.01);
  EXPECT_EQ(metric_info("peak_rss_bytes").absolute_margin, 1048576);
  EXPECT_EQ(metric_info("peak_pss_bytes").relative_margin, 0.01);
  EXPECT_EQ(metric_info("peak_cgroup_bytes").relative_margin, 0.01);
  EXPECT_EQ(metric_info("peak_heap_bytes").relative_margin, 0.005);
  EXPECT_EQ(metric_info("peak_heap_bytes").absolute_margin, 65536);
  EXPECT_EQ(metric_info("peak_gpu_allocated_bytes").relative_margin, 0.005);
  EXPECT_EQ(metric_info("allocator_active_bytes").absolute_margin, 65536);
  EXPECT_EQ(metric_info("allocator_resident_bytes").absolute_margin, 1048576);
  EXPECT_EQ(metric_info("allocator_arena_count").absolute_margin, 1);
  EXPECT_EQ(metric_info("allocation_count").absolute_margin, 1);
  EXPECT_EQ(metric_info("round_seconds").relative_margin, 0.03);
  EXPECT_EQ(metric_info("rss_growth_bytes_per_round").absolute_margin, 65536);
  EXPECT_EQ(metric_info("rss_growth_bytes_per_minute").absolute_margin, 1048576);
  EXPECT_EQ(metric_info("rss_growth_bytes_per_round").scale, Scale::difference);
  EXPECT_EQ(metric_info("cleanup_seconds").scale, Scale::difference);
  EXPECT_EQ(metric_info("cleanup_ratio").absolute_margin, 0.001);
}

TEST(Metrics, KnowThatMoreAccuracyIsBetter) {
  EXPECT_FALSE(metric_info("validation_accuracy_ratio").lower_is_better);
  EXPECT_TRUE(metric_info("peak_rss_bytes").lower_is_better);
  EXPECT_FALSE(metric_info("accuracy").lower_is_better);
  EXPECT_FALSE(metric_info("f1_macro").lower_is_better);
  EXPECT_TRUE(metric_info("perplexity").lower_is_better);
}

TEST(Metrics, ReadAGaugesUnitFromItsName) {
  EXPECT_FALSE(is_known_metric("queue_bytes"));
  EXPECT_EQ(metric_info("queue_bytes").unit, Unit::bytes);
  EXPECT_EQ(metric_info("wait_seconds").unit, Unit::seconds);
  EXPECT_EQ(metric_info("perplexity").unit, Unit::number);
}

TEST(Metrics, AllHaveWordsForSentences) {
  for (const MetricInfo& metric : all_metrics()) EXPECT_FALSE(metric.noun.empty()) << metric.name;
}

TEST(Metrics, HaveUniqueNames) {
  std::set<std::string> names;
  for (const MetricInfo& info : all_metrics()) EXPECT_TRUE(names.insert(info.name).second);
}

}  // namespace
}  // namespace memduel
