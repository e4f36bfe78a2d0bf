#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verdict/analyse.h"
#include "verdict/result_files.h"

namespace memduel {
namespace {

using nlohmann::json;

json file(int repetitions, double microseconds, int bytes) {
  json benchmarks = json::array();
  for (int i = 0; i < repetitions; ++i) {
    benchmarks.push_back({{"name", "BM_copy/8"},
                          {"run_name", "BM_copy/8"},
                          {"run_type", "iteration"},
                          {"repetition_index", i},
                          {"real_time", microseconds * (1 + 0.001 * (i % 5))},
                          {"cpu_time", microseconds},
                          {"time_unit", "us"},
                          {"allocs_per_iter", 3.0},
                          {"max_bytes_used", bytes},
                          {"total_allocated_bytes", bytes},
                          {"net_heap_growth", 0}});
  }
  benchmarks.push_back({{"name", "BM_copy/8_mean"},
                        {"run_name", "BM_copy/8"},
                        {"run_type", "aggregate"},
                        {"real_time", microseconds},
                        {"time_unit", "us"}});
  return {{"context", {{"host_name", "here"}}}, {"benchmarks", benchmarks}};
}

Results compare(const json& a, const json& b) {
  const RunData merged = merge_runs(run_from_google_benchmark(a, "a.json"),
                                    run_from_google_benchmark(b, "b.json"), "");
  AnalysisSettings settings;
  settings.design = Design::unpaired;
  return analyse(merged, settings);
}

const Comparison& row(const Results& results, const std::string& metric) {
  for (const Comparison& comparison : results.comparisons) {
    if (comparison.metric == metric) return comparison;
  }
  throw std::out_of_range(metric);
}

TEST(GoogleBenchmark, ReadsTimesInSecondsAndTheMemoryManagersFields) {
  const RunData run = run_from_google_benchmark(file(6, 10, 4096), "a.json");
  ASSERT_EQ(run.trials.size(), 6U);
  const RoleData& role = run.trials[0].roles[0];
  EXPECT_EQ(role.role, "BM_copy/8");
  EXPECT_DOUBLE_EQ(role.metrics.at("real_time_seconds"), 1e-5);
  EXPECT_EQ(role.metrics.at("peak_heap_bytes"), 4096);
  EXPECT_EQ(role.metrics.at("allocation_count"), 3);
}

TEST(GoogleBenchmark, ComparesTwoFiles) {
  const Results results = compare(file(8, 10, 1 << 20), file(8, 12, 1 << 21));
  const Comparison& time = row(results, "real_time_seconds");
  EXPECT_EQ(time.verdict, Verdict::inconclusive);
  EXPECT_THAT(time.reason, testing::HasSubstr("were not interleaved"));
  EXPECT_FALSE(time.blocks_needed);
  ASSERT_TRUE(time.ratio);
  EXPECT_NEAR(*time.ratio, 1.2, 0.01);
  EXPECT_EQ(row(results, "peak_heap_bytes").verdict, Verdict::regressed);
  EXPECT_EQ(row(results, "net_heap_growth_bytes").verdict, Verdict::unchanged);
  EXPECT_EQ(row(results, "allocation_count").verdict, Verdict::unchanged);
}

TEST(GoogleBenchmark, AThirdOfAKilobyteIsMuchOfOne) {
  const Results results = compare(file(8, 10, 1248), file(8, 10, 864));
  EXPECT_EQ(row(results, "peak_heap_bytes").verdict, Verdict::improved);
}

TEST(GoogleBenchmark, ImpossibleBytesLeaveThoseOfTheLastRepetition) {
  json broken = file(3, 10, 4096);
  broken["benchmarks"][0]["max_bytes_used"] = 6.2e17;
  broken["benchmarks"][2]["max_bytes_used"] = 4100;
  const RunData run = run_from_google_benchmark(broken, "a.json");
  EXPECT_FALSE(run.trials[0].roles[0].metrics.contains("peak_heap_bytes"));
  EXPECT_FALSE(run.trials[1].roles[0].metrics.contains("peak_heap_bytes"));
  EXPECT_EQ(run.trials[1].roles[0].metrics.at("allocation_count"), 3);
  EXPECT_TRUE(run.trials[1].roles[0].metrics.contains("real_time_seconds"));
  EXPECT_EQ(run.trials[2].roles[0].metrics.at("peak_heap_bytes"), 4100);
  EXPECT_EQ(run.limitations.front().code, "impossible_bytes");
}

TEST(GoogleBenchmark, OfAProcessHasTheMiddleOfItsTimesAndItsLastBytes) {
  json of_a_process = file(3, 10, 4096);
  of_a_process["benchmarks"][0]["real_time"] = 90.0;
  of_a_process["benchmarks"][1]["real_time"] = 30.0;
  of_a_process["benchmarks"][2]["max_bytes_used"] = 4100;
  const std::vector<RoleData> benchmarks = benchmarks_of_process(of_a_process, "a.json");
  ASSERT_EQ(benchmarks.size(), 1U);
  EXPECT_EQ(benchmarks[0].role, "BM_copy/8");
  EXPECT_DOUBLE_EQ(benchmarks[0].metrics.at("real_time_seconds"), 3e-5);
  EXPECT_EQ(benchmarks[0].metrics.at("peak_heap_bytes"), 4100);
}

TEST(GoogleBenchmark, SaysWhenThereAreTooFewRepetitions) {
  const Results results = compare(file(2, 10, 1 << 20), file(2, 12, 1 << 20));
  EXPECT_EQ(row(results, "real_time_seconds").verdict, Verdict::inconclusive);
  EXPECT_TRUE(std::ranges::any_of(
      results.limitations, [](const Note& note) { return note.code == "too_few_repetitions"; }));
}

TEST(GoogleBenchmark, RefusesAggregatesAloneAndOtherDocuments) {
  EXPECT_THROW(run_from_google_benchmark(file(0, 10, 1), "a.json"), Error);
  EXPECT_THROW(run_from_google_benchmark({{"context", 1}}, "a.json"), Error);
  EXPECT_TRUE(is_google_benchmark(file(1, 1, 1)));
  EXPECT_FALSE(is_google_benchmark({{"schema", "memduel.results/1"}}));
}

TEST(GoogleBenchmark, NamesABenchmarkThatFailed) {
  json broken = file(6, 10, 1);
  broken["benchmarks"].push_back(
      {{"name", "BM_bad"}, {"run_type", "iteration"}, {"error_occurred", true}});
  const RunData run = run_from_google_benchmark(broken, "a.json");
  ASSERT_EQ(run.warnings.size(), 1U);
  EXPECT_THAT(run.warnings[0].message, testing::HasSubstr("BM_bad"));
}

}  // namespace
}  // namespace memduel
