#include "reports/formats/tracking.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/testing/sample_run.h"

namespace memduel {
namespace {

using nlohmann::json;

constexpr const char* kPeak = "peak_rss_above_idle_bytes";

double median_of(const Results& results, const std::string& role) {
  for (const Comparison& c : results.comparisons)
    if (c.role == role && c.metric == kPeak) return c.candidate_median.value_or(0);
  return 0;
}

TEST(Bencher, HasAValueForEachMeasureOfEachBenchmark) {
  const ReportModel model = sample_model({.series = false});
  const json all = json::parse(render_bencher(model));
  EXPECT_EQ(all.at("server of optimized").at(kPeak).at("value").get<double>(),
            median_of(model.results, "server"));
  EXPECT_TRUE(all.contains("server of original"));
  for (const auto& [benchmark, measures] : all.items())
    for (const auto& [measure, number] : measures.items())
      EXPECT_TRUE(number.at("value").is_number()) << benchmark << measure;
}

TEST(BenchmarkAction, IsAListOfNamesUnitsAndValues) {
  const ReportModel model = sample_model({.candidates = 2, .series = false});
  const json all = json::parse(render_benchmark_action(model));
  int found = 0;
  std::set<std::string> names;
  for (const json& one : all) {
    EXPECT_TRUE(one.at("value").is_number());
    EXPECT_TRUE(names.insert(one.at("name")).second) << "each number once";
    if (one.at("name") != std::string("server of original: ") + kPeak) continue;
    EXPECT_EQ(one.at("unit"), "bytes");
    ++found;
  }
  EXPECT_EQ(found, 1) << "though two candidates are compared with it";
}

TEST(BenchmarkAction, OfARunWithoutTrialsIsAnEmptyList) {
  EXPECT_EQ(render_benchmark_action(sample_model({.blocks = -1})), "[]\n");
}

TEST(Bencher, TakesAnyName) {
  const ReportModel model = sample_model({.series = false, .hostile = true});
  EXPECT_TRUE(json::parse(render_bencher(model)).is_object());
}

}  // namespace
}  // namespace memduel
