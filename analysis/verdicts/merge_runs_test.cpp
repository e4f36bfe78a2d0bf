#include "analysis/verdicts/merge_runs.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace memduel {
namespace {

RunData run_of(const std::string& workload, const std::string& fingerprint, double peak) {
  RunData run;
  run.config = {{"name", "q"}, {"baseline", "original"}, {"workload", {{"kind", workload}}}};
  run.environment = {{"fingerprint", fingerprint}};
  for (const char* arm : {"original", "optimized"}) {
    TrialData trial;
    trial.id = 7;
    trial.arm = arm;
    RoleData server;
    server.role = "server";
    server.metrics["peak_rss_bytes"] = arm == std::string("original") ? peak : peak / 2;
    trial.roles.push_back(server);
    run.trials.push_back(trial);
  }
  return run;
}

TEST(MergeRuns, TakesTheBaselineOfEachAndNumbersTrialsAnew) {
  const RunData merged =
      merge_runs(run_of("federated", "f", 100), run_of("federated", "f", 120), "");
  ASSERT_EQ(merged.trials.size(), 2u);
  EXPECT_EQ(merged.trials[0].arm, "a");
  EXPECT_EQ(merged.trials[1].arm, "b");
  EXPECT_EQ(merged.trials[1].id, 2);
  EXPECT_EQ(merged.trials[1].roles[0].metrics.at("peak_rss_bytes"), 120);
  ASSERT_EQ(merged.warnings.size(), 1u);
  EXPECT_EQ(merged.warnings[0].code, "not_interleaved");
}

TEST(MergeRuns, TakesANamedArmAndRefusesAnUnknownOne) {
  const RunData merged =
      merge_runs(run_of("federated", "f", 100), run_of("federated", "f", 120), "optimized");
  EXPECT_EQ(merged.trials[0].roles[0].metrics.at("peak_rss_bytes"), 50);
  EXPECT_THROW(merge_runs(run_of("federated", "f", 1), run_of("federated", "f", 1), "minimal"),
               Error);
}

TEST(MergeRuns, WarnsOfAnotherEnvironmentAndRefusesAnotherWorkload) {
  EXPECT_EQ(
      merge_runs(run_of("federated", "f", 1), run_of("federated", "g", 1), "").warnings[1].code,
      "other_environment");
  EXPECT_THROW(merge_runs(run_of("federated", "f", 1), run_of("state-dict", "f", 1), ""), Error);
}

TEST(MergeRuns, OfResultsComparesWhatItCanAndSaysWhatItCannot) {
  Results results;
  results.baseline = "original";
  results.environment = {{"fingerprint", "f"}};
  results.trials = run_of("federated", "f", 100).trials;
  results.config_sha256 = "1";
  Results other = results;
  const RunData same = merge_runs(run_from_results(results), run_from_results(other), "");
  ASSERT_EQ(same.warnings.size(), 1u) << "only that the two were not in turns";
  EXPECT_EQ(same.trials.size(), 2u);
  other.config_sha256 = "2";
  const RunData apart = merge_runs(run_from_results(results), run_from_results(other), "");
  ASSERT_EQ(apart.warnings.size(), 2u);
  EXPECT_EQ(apart.warnings[1].code, "workloads_not_checked");
}

TEST(RunFromResults, KeepsTrialsAndEnvironment) {
  Results results;
  results.baseline = "original";
  results.environment = {{"fingerprint", "f"}};
  results.trials = run_of("federated", "f", 100).trials;
  const RunData run = run_from_results(results);
  EXPECT_EQ(run.trials.size(), 2u);
  EXPECT_EQ(run.config.at("baseline"), "original");
}

}  // namespace
}  // namespace memduel
