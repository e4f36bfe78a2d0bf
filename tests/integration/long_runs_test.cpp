// The replays of long runs, shortened: from a config to results with growth, and to a report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Runs a config and leaves its results and report.
nlohmann::json results_of_quick(const Workplace& place, const std::string& config,
                                const std::vector<std::string>& more = {}, int repeats = 1) {
  std::vector<std::string> words = {"run",       std::string(MEMDUEL_CONFIGS "/") + config,
                                    "--out",     place.path("run"),
                                    "--repeats", std::to_string(repeats)};
  words.insert(words.end(), more.begin(), more.end());
  const Finished run = memduel(place, words);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_GT(std::filesystem::file_size(place.path("run") / "report.html"), 100000U);
  return results_in(place.path("run"));
}

/// How a metric of a role compares with the baseline in an arm; null where it was not compared.
nlohmann::json compared(const nlohmann::json& results, const std::string& arm,
                        const std::string& role, const std::string& metric) {
  for (const auto& row : results.at("comparisons"))
    if (row.at("candidate") == arm && row.at("role") == role && row.at("metric") == metric)
      return row;
  return nullptr;
}

/// The growth of a role's resident set by rounds in an arm; null where it was not looked at.
nlohmann::json growth_of(const nlohmann::json& results, const std::string& arm,
                         const std::string& role) {
  for (const auto& row : results.at("growth"))
    if (row.at("variant") == arm && row.at("role") == role &&
        row.at("metric") == "rss_growth_bytes_per_round")
      return row;
  return nullptr;
}

TEST(NvflareMatrix, EveryCellIsMeasuredAndEndsInTheSameBits) {
  const Workplace place;
  const nlohmann::json results = results_of_quick(place, "nvflare-matrix-quick.json");
  int lived = 0;
  for (const auto& arm : results.at("variants"))
    lived += arm.at("trials_ok").get<int>() > 0 ? 1 : 0;
  EXPECT_EQ(lived, 4);
  for (const auto& row : results.at("equivalence")) EXPECT_EQ(row.at("bit_identical"), true);
  for (const auto& trial : results.at("trials"))
    for (const auto& role : trial.at("roles")) {
      if (role.at("role") == "all") continue;
      const std::string arm = trial.at("variant");
      const int every = arm.back() - '0';
      for (const auto& round : role.at("rounds")) {
        const auto& metrics = round.at("metrics");
        const int number = round.at("round");
        const bool collects = every > 0 && number % every == 0;
        EXPECT_EQ(metrics.at("cleanup_seconds") > 0, collects) << arm << round;
        EXPECT_EQ(metrics.at("cleanup_ratio") > 0, every > 0 && number >= every) << arm << round;
        EXPECT_LE(metrics.at("heap_cleanup_seconds"), metrics.at("cleanup_seconds"));
      }
    }
  for (const char* role : {"server", "client_max"})
    for (const char* metric : {"cleanup_seconds", "heap_cleanup_seconds", "cleanup_ratio"}) {
      const auto row = compared(results, "glibc-2-gc-1", role, metric);
      ASSERT_TRUE(row.is_object()) << role << metric;
      EXPECT_EQ(row.at("baseline_median"), 0);
      EXPECT_GT(row.at("candidate_median"), 0);
    }
}

TEST(CsflStability, EveryPresetRunsAllMethodsInOneProcessAndReportsGrowth) {
  const Workplace place;
  // Calm, for what another program takes would end as-implemented in other bits.
  const nlohmann::json results = results_of_quick(
      place, "csfl-stability-quick.json",
      {"--set", "variants.1.switches={\"warn_percent\":100,\"critical_percent\":100}", "--set",
       "variants.2.switches={\"warn_percent\":0,\"critical_percent\":100}"});
  for (const char* arm : {"original", "as-implemented", "optimized"})
    EXPECT_TRUE(growth_of(results, arm, "simulator").is_object()) << arm;
  for (const auto& row : results.at("equivalence")) EXPECT_EQ(row.at("bit_identical"), true);
  for (const auto& trial : results.at("trials"))
    for (const auto& role : trial.at("roles")) {
      if (role.at("role") == "all") continue;
      EXPECT_EQ(role.at("role"), "simulator");
      EXPECT_EQ(role.at("rounds").size(), 30U);
      EXPECT_GT(role.at("rounds").at(29).at("metrics").at("client_training_bytes"),
                role.at("rounds").at(29).at("metrics").at("client_formula_bytes"));
    }
  EXPECT_GT(compared(results, "optimized", "simulator", "cleanup_ratio").at("candidate_median"), 0);

  const auto& warnings = results.at("warnings");
  EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(), [](const auto& warning) {
    return warning.at("code") == "memory_warning" &&
           testing::Matches(
               HasSubstr("variant optimized: memory ran short for simulator in round 1: "
                         "at most "))(warning.at("message").template get<std::string>());
  })) << warnings;
}

TEST(Kdgat, EveryArmTrainsAllThreeNetworksAndReportsPartsByEpoch) {
  const Workplace place;
  const nlohmann::json results = results_of_quick(
      place, "kdgat-quick.json",
      {"--set", "workload.dataset.graphs=1100", "--set", "workload.teacher=\"gat-small\""});
  int trials = 0;
  for (const auto& trial : results.at("trials"))
    for (const auto& role : trial.at("roles")) {
      if (role.at("role") == "all") continue;
      ++trials;
      EXPECT_EQ(role.at("role"), "trainer");
      const auto& rounds = role.at("rounds");
      ASSERT_EQ(rounds.size(), 4U);
      std::vector<std::string> phases;
      for (const auto& phase : rounds.at(0).at("phases")) phases.push_back(phase.at("phase"));
      EXPECT_THAT(phases, testing::IsSupersetOf({"load", "train"}));
      const auto& student = rounds.at(3).at("metrics");
      for (const char* part : {"parameter_bytes", "gradient_bytes", "optimizer_bytes",
                               "activation_bytes", "data_bytes", "batch_graphs_count"})
        EXPECT_GT(student.at(part), 0) << part;
      const double kept = trial.at("variant") == "optimized" ? 0 : 4.0 * (90'018 - 465 * 8);
      EXPECT_EQ(student.at("teacher_bytes"), kept);
      EXPECT_GT(student.at("validation_accuracy_ratio"), 0.5);
    }
  EXPECT_GE(trials, 3);
  EXPECT_GT(compared(results, "optimized", "trainer", "scoring_seconds").at("candidate_median"), 0);
}

TEST(Cbramod, EveryArmFineTunesInOneProcessAndReportsGrowthAndParts) {
  const Workplace place;
  const nlohmann::json results = results_of_quick(
      place, "cbramod-quick.json", {"--set", "workload.trials=6", "--set", "workload.epochs=1"});
  for (const auto& row : results.at("equivalence"))
    EXPECT_EQ(row.at("bit_identical"), row.at("candidate") != "optimized-bf16");
  std::map<std::string, double> activations;
  for (const auto& trial : results.at("trials"))
    for (const auto& role : trial.at("roles")) {
      if (role.at("role") == "all") continue;
      EXPECT_EQ(role.at("role"), "trainer");
      ASSERT_EQ(role.at("rounds").size(), 6U);
      const auto& metrics = role.at("rounds").at(1).at("metrics");
      EXPECT_EQ(metrics.at("parameter_bytes"), 4 * 76165);
      EXPECT_EQ(metrics.at("optimizer_bytes"), 8 * 76165);
      EXPECT_TRUE(metrics.contains("pruned_count"));
      activations[trial.at("variant")] = metrics.at("activation_bytes");
    }
  EXPECT_LT(activations.at("optimized"), 0.5 * activations.at("original"));
  EXPECT_LT(activations.at("optimized-bf16"), activations.at("optimized"));
}

// All are pruned. Each leaves its data, 30 epochs of 8 channels and 10 s, and parameters, gradients
// and averages of 76,165 values.
TEST(Cbramod, FineTuningsGrowUnlessTheirScopeEnds) {
  const Workplace place;
  const nlohmann::json results = results_of_quick(
      place, "cbramod-quick.json",
      {"--variants", "original,optimized", "--set", "workload.epochs=1", "--set",
       "workload.dataset.train_samples=20", "--set", "workload.dataset.test_samples=10", "--set",
       "workload.learning_rates=[1e-12]"},
      6);
  const double left = 30 * 8 * 10 * 200 * 4 + 5 * 4 * 76'165;
  const auto original = growth_of(results, "original", "trainer");
  EXPECT_EQ(original.at("verdict"), "inconclusive") << "a few fine-tunings do not tell";
  EXPECT_NEAR(original.at("slope"), left, 0.3 * left);
  const auto optimized = growth_of(results, "optimized", "trainer");
  EXPECT_LT(std::abs(optimized.at("slope").get<double>()), 0.1 * left);
}

/// What ends an experiment of two arms of which the second has these switches. Data sets lie in
/// `place`.
std::string refusal(const nlohmann::json& workload, const std::string& preset,
                    const nlohmann::json& optimizations, int status = 2,
                    const Workplace& place = {}) {
  const nlohmann::json config = {{"name", "bad"},
                                 {"baseline", "original"},
                                 {"workload", workload},
                                 {"variants",
                                  {{{"name", "original"}, {"preset", preset}},
                                   {{"name", "bad"}, {"switches", optimizations}}}}};
  const Finished run = memduel(place, {"run", place.file("bad.json", config.dump()), "--out",
                                       place.path("run"), "--data-dir", place.path("")});
  EXPECT_EQ(run.status, status) << run.err;
  return run.err;
}

TEST(BadLongRun, NumbersOutOfRangeAreRefusedWithWhatIsExpected) {
  const nlohmann::json exchange = {{"kind", "state-dict"}, {"model", "mnist-cnn"}};
  EXPECT_THAT(refusal(exchange, "nvflare-original", {{"server_gc_rounds", -1}}),
              AllOf(HasSubstr("found -1 for switch \"server_gc_rounds\""),
                    HasSubstr("a whole number from 0")));
  EXPECT_THAT(refusal(exchange, "nvflare-original", {{"tensor_offload", "disk"}}),
              HasSubstr("found tensor_offload=disk with aggregate=out_of_place_kept_step"));
  const nlohmann::json swarm = {
      {"kind", "state-dict"}, {"model", "mnist-cnn"}, {"topology", "swarm"}};
  EXPECT_THAT(refusal(swarm, "appfl-original", nlohmann::json::object()),
              AllOf(HasSubstr("workload.topology=swarm"),
                    HasSubstr("expected aggregate=collect_all or in_time")));
  const nlohmann::json simulation = {
      {"kind", "simulation"}, {"model", "csfl-cnn"}, {"dataset", {{"name", "mnist"}}}};
  EXPECT_THAT(refusal(simulation, "csfl-original", {{"warn_percent", 101}}),
              AllOf(HasSubstr("found 101 for switch \"warn_percent\""),
                    HasSubstr("a whole number from 0 to 100")));
}

TEST(BadLongRun, WhatTheDeviceCannotDoIsRefusedBeforeAnythingRuns) {
  const std::pair<nlohmann::json, const char*> kinds[] = {
      {{{"kind", "graph"}, {"dataset", {{"name", "can-generated"}, {"graphs", 1100}}}},
       "kdgat-original"},
      {{{"kind", "eeg"}, {"model", "cbramod-small"}}, "cbramod-original"}};
  for (const auto& [workload, preset] : kinds)
    EXPECT_THAT(refusal(workload, preset, {{"mixed_precision", "fp16"}}),
                AllOf(HasSubstr("$.variants[1].switches"),
                      HasSubstr("expected workload.device=cuda, found mixed_precision=fp16 with "
                                "workload.device=cpu")));
}

TEST(BadLongRun, AnInputThatCannotBeReadIsAFileThatFailed) {
  const Workplace place;
  std::string row;
  for (int i = 0; i < 99; ++i) row += "(1.000000) can0 123#00\n";
  const std::string log = place.file("drive.log", row + "(1.000000) can0 123#0\n");
  const nlohmann::json drive = {{"kind", "graph"},
                                {"dataset", {{"name", "can-log"}, {"file", "drive.log"}}}};
  EXPECT_THAT(refusal(drive, "kdgat-original", {{"graph_loading", "mmap"}}, 4, place),
              HasSubstr(log + ": line 100"));

  const Workplace other;
  const std::string recording = other.file("night.edf", "0       no recording");
  const nlohmann::json night = {{"kind", "eeg"},
                                {"model", "cbramod-small"},
                                {"dataset", {{"name", "edf"}, {"file", "night.edf"}}}};
  EXPECT_THAT(refusal(night, "cbramod-original", {{"best_state", "cpu"}}, 4, other),
              AllOf(HasSubstr("the baseline original failed in all of its 2 trials"),
                    HasSubstr(recording)));
}

TEST(BadLongRun, MoreParallelClientsThanMemoryHoldsEndInTheArithmetic) {
  const Workplace place;
  const Finished run =
      memduel(place, {"run", MEMDUEL_CONFIGS "/csfl-stability-quick.json", "--out",
                      place.path("run"), "--repeats", "1", "--set", "workload.model=\"resnet18\"",
                      "--set", "workload.dataset={\"name\":\"dummy-cifar10\"}", "--set",
                      "workload.clients=10000", "--set", "workload.clients_per_round=10000",
                      "--set", "workload.parallel_clients=10000"});
  EXPECT_EQ(run.status, 3) << run.out;
  EXPECT_THAT(run.err, HasSubstr("10000 × 170.6 MiB"));
  EXPECT_THAT(run.err, HasSubstr("500.0 MiB according to the guide"));
}

}  // namespace
}  // namespace memduel
