#include <gtest/gtest.h>

#include "util/error.h"
#include "verdict/result_files.h"

namespace memduel {
namespace {

using nlohmann::json;

RunData run_of(const std::string& workload, const std::string& fingerprint, double peak) {
  RunData run;
  run.config = document_of_run(
      {{"name", "q"}, {"baseline", "original"}, {"workload", {{"kind", workload}}}});
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

Variant arm(const std::string& name, const std::string& program) {
  Variant variant;
  variant.name = name;
  variant.argv = {{"command", {program, "1"}}};
  variant.env = {{"SIZE", name}};
  return variant;
}

RunData command_run(const std::string& program) {
  RunData run = run_of("command", "f", 100);
  run.config.workload = document_of_program("q", {program}, "").workload;
  run.config.variants = {arm("original", program), arm("optimized", program)};
  run.config.measure.repeats = 6;
  run.environment["reproduce"] = "memduel watch -- " + program;
  return run;
}

TEST(MergeRuns, NamesItsArmsAndSaysWhatTheyWere) {
  const RunData merged = merge_runs(command_run("old"), command_run("new"), "optimized",
                                    {"monday", "runs/monday"}, {"tuesday", "my runs/tuesday"});
  EXPECT_EQ(merged.trials[1].arm, "tuesday");
  EXPECT_EQ(merged.config.baseline, "monday");
  const Variant& second = merged.config.variants.at(1);
  EXPECT_EQ(second.name, "tuesday");
  EXPECT_EQ(second.argv.at("command"), Argv({"new", "1"})) << "not the other run's program";
  EXPECT_EQ(second.env.at("SIZE"), "optimized");
  EXPECT_EQ(merged.environment.at("subjects").at("tuesday"), "optimized of my runs/tuesday");
  EXPECT_EQ(merged.environment.at("reproduce"),
            "memduel compare runs/monday 'my runs/tuesday' --variant optimized");
  EXPECT_FALSE(merged.config.measure.repeats) << "both runs have ended";
}

/// A run of one trial whose process had so many rounds of a second each.
RunData run_of_rounds(int rounds) {
  RunData run = run_of("command", "f", 100);
  run.trials.resize(1);
  RoleData& role = run.trials[0].roles[0];
  role.metrics["cpu_seconds"] = 1;
  for (int round = 1; round <= rounds; ++round)
    role.rounds.push_back({round, 0, 1, {{"round_seconds", 1}, {"end_rss_bytes", 80}}, {}});
  return run;
}

TEST(MergeRuns, LeaveOutWhatIsByTheRoundWhereOnlyOneRunHasRounds) {
  const RunData apart = merge_runs(run_of_rounds(12), run_of_rounds(1), "", {"x"}, {"y"});
  for (const TrialData& trial : apart.trials) {
    for (const RoundData& round : trial.roles[0].rounds) EXPECT_TRUE(round.metrics.empty());
    EXPECT_EQ(trial.roles[0].metrics.at("peak_rss_bytes"), 100);
    EXPECT_EQ(trial.roles[0].metrics.at("cpu_seconds"), 1) << "of the whole job in both";
  }
  ASSERT_EQ(apart.limitations.size(), 1U);
  EXPECT_EQ(
      apart.limitations[0].message,
      "x has several rounds, but y has only one, so times per round, memory at round ends and "
      "growth per round are not compared");
  const RunData alike = merge_runs(run_of_rounds(12), run_of_rounds(6), "");
  EXPECT_EQ(alike.trials[1].roles[0].rounds[0].metrics.at("round_seconds"), 1);
  EXPECT_TRUE(alike.limitations.empty());
}

TEST(RunFromResults, KeepsTrialsAndEnvironment) {
  Results results;
  results.baseline = "original";
  results.environment = {{"fingerprint", "f"}};
  results.trials = run_of("federated", "f", 100).trials;
  const RunData run = run_from_results(results);
  EXPECT_EQ(run.trials.size(), 2u);
  EXPECT_EQ(run.config.baseline, "original");
}

}  // namespace
}  // namespace memduel
