#include "model/metric_catalogue.h"

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

TEST(Metrics, StateTheirDirection) {
  EXPECT_EQ(metric_info("validation_accuracy_ratio").better, Direction::higher);
  EXPECT_EQ(metric_info("train_accuracy_ratio").better, Direction::higher);
  EXPECT_EQ(metric_info("train_loss").better, Direction::lower);
  EXPECT_EQ(metric_info("peak_rss_bytes").better, Direction::lower);
  for (const MetricInfo& metric : all_metrics())
    EXPECT_NE(metric.better, Direction::undeclared) << metric.name;
}

TEST(Metrics, OfAProgramsOwnHaveNoDirection) {
  for (const char* name :
       {"throughput", "samples_per_second", "hit_ratio", "accuracy", "f1_macro", "auc", "score",
        "loss", "queue_bytes", "wait_seconds", "retry_count", "cache_bytes_per_round"})
    EXPECT_EQ(metric_info(name).better, Direction::undeclared) << name;
}

TEST(Metrics, ReadAGaugesUnitFromItsName) {
  EXPECT_FALSE(is_known_metric("queue_bytes"));
  EXPECT_EQ(metric_info("queue_bytes").unit, Unit::bytes);
  EXPECT_EQ(metric_info("wait_seconds").unit, Unit::seconds);
  EXPECT_EQ(metric_info("perplexity").unit, Unit::number);
}

TEST(Metrics, AllHaveWordsForSentences) {
  for (const MetricInfo& metric : all_metrics())
    EXPECT_FALSE(metric.display.empty()) << metric.name;
}

TEST(Metrics, HaveUniqueNames) {
  std::set<std::string> names;
  for (const MetricInfo& info : all_metrics()) EXPECT_TRUE(names.insert(info.name).second);
}

}  // namespace
}  // namespace memduel
