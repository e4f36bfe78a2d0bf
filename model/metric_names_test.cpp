#include "model/metric_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/metric_catalogue.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RoleMetricNamed, IsOfAllProcessesWithoutARole) {
  EXPECT_EQ(role_metric_named("peak_rss"), (RoleMetric{"all", "peak_rss_bytes"}));
  EXPECT_EQ(role_metric_named("server.heap"), (RoleMetric{"server", "peak_heap_bytes"}));
  EXPECT_EQ(role_metric_named("BM/1.5.peak_rss_bytes"), (RoleMetric{"BM/1.5", "peak_rss_bytes"}));
  EXPECT_EQ(role_metric_named("*.loss"), (RoleMetric{"*", "loss"}));
  EXPECT_EQ(role_metric_named(".peak_rss").role, "");
  EXPECT_EQ(role_metric_named("server.").metric, "");
}

TEST(ShortNames, OmitAUnitThatIsClear) {
  EXPECT_EQ(metric_of_short_name("peak_largest_process_rss"), "peak_largest_process_rss_bytes");
  EXPECT_EQ(metric_of_short_name("peak_heap"), "peak_heap_bytes");
  EXPECT_EQ(metric_of_short_name("minor_faults"), "minor_faults_count");
  EXPECT_EQ(metric_of_short_name("heap_growth"), "heap_growth_bytes_per_round");
  EXPECT_EQ(metric_of_short_name("rss_growth"), "rss_growth") << "per round or per minute";
  EXPECT_EQ(metric_of_short_name("cpu_time"), "cpu_seconds") << "not cpu_time_seconds";
  EXPECT_EQ(metric_of_short_name("validation_accuracy"), "validation_accuracy") << "a program's";
  EXPECT_EQ(metric_of_short_name("round"), "round") << "one word may be a program's metric";
}

TEST(ShortNames, LeadBackToTheirMetric) {
  for (const MetricInfo& info : all_metrics())
    EXPECT_EQ(metric_of_short_name(short_name_of_metric(info.name)), info.name);
  EXPECT_EQ(short_name_of_metric("peak_largest_process_rss_bytes"), "peak_largest_process_rss");
  EXPECT_EQ(short_name_of_metric("round_seconds"), "wall_time");
  EXPECT_EQ(short_name_of_metric("rss_growth_bytes_per_round"), "rss_growth_bytes_per_round");
  EXPECT_EQ(short_name_of_metric("queue_bytes"), "queue_bytes");
}

TEST(MeantMetrics, AreNearNamesAndWordsOfOtherTools) {
  for (const char* name : {"peak_rsss", "peakrss", "peak_rs", "peak_rzs", "memory", "rss"})
    EXPECT_THAT(meant_metrics(name), ElementsAre("peak_rss")) << name;
  EXPECT_THAT(meant_metrics("peak_rss_byte"), ElementsAre("peak_rss_bytes"));
  EXPECT_THAT(meant_metrics("memory_peak_resident"),
              ElementsAre("peak_rss", "peak_largest_process_rss"));
  for (const char* name : {"time_wall_clock", "wall", "time"})
    EXPECT_THAT(meant_metrics(name), ElementsAre("wall_time")) << name;
  EXPECT_THAT(meant_metrics("time_cpu"), ElementsAre("cpu_time"));
  for (const char* name : {"mape", "rouge", "eval_time", "loss", "f1_macro", "throughput"})
    EXPECT_THAT(meant_metrics(name), IsEmpty()) << name << " may be a program's own";
}

TEST(MeantMetrics, AreNamesThatAreUnderstood) {
  for (const char* name : {"memory_peak_resident", "elapsed", "allocations", "pss", "maxrss"})
    for (const std::string& meant : meant_metrics(name))
      EXPECT_TRUE(is_known_metric(metric_of_short_name(meant))) << meant;
}

}  // namespace
}  // namespace memduel
