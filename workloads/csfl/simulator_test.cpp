#include "csfl/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "csfl/simulation_switches.h"
#include "fl/models.h"
#include "fl/training.h"
#include "method_run.h"
#include "support/catalog_files.h"
#include "support/worker_runs.h"
#include "util/error.h"

namespace memduel {
namespace {

using ::testing::HasSubstr;

std::string refusal_of_simulation(const std::string& name, const nlohmann::json& value) {
  nlohmann::json values = preset_values("csfl-original");
  values[name] = value;
  try {
    make_simulation_switches(values);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "accepted";
}

TEST(SimulationSwitches, TakeEveryValueOfTheCatalog) {
  for (const auto& one : switches_for("simulation"))
    for (const auto& value : one.at("values")) {
      nlohmann::json values = preset_values("csfl-original");
      values[one.at("name")] = value.at("value");
      values["critical_percent"] = 100;
      EXPECT_NO_THROW(make_simulation_switches(values)) << one.at("name") << value;
    }
}

TEST(SimulationSwitches, PercentagesAreThoseOfAWholeAndInOrder) {
  EXPECT_THAT(refusal_of_simulation("warn_percent", 101),
              ::testing::AllOf(HasSubstr("switches.warn_percent: expected "),
                               HasSubstr("a whole number from 0 to 100, found 101")));
  EXPECT_THAT(refusal_of_simulation("warn_percent", -1), HasSubstr("found -1"));
  EXPECT_THAT(refusal_of_simulation("critical_percent", 84),
              ::testing::AllOf(HasSubstr("switches.critical_percent: expected "),
                               HasSubstr("a whole number from 85 to 100, found 84")));
  EXPECT_EQ(refusal_of_simulation("critical_percent", 85), "accepted");
}

TEST(SimulationSwitches, RoundsAndWorkersAreWholeNumbers) {
  EXPECT_THAT(
      refusal_of_simulation("light_cleanup_rounds", -5),
      ::testing::AllOf(HasSubstr("switches.light_cleanup_rounds: "), HasSubstr("found -5")));
  EXPECT_THAT(refusal_of_simulation("heavy_cleanup_rounds", 2.5), HasSubstr("found 2.5"));
  EXPECT_THAT(refusal_of_simulation("memory_check_rounds", 0), HasSubstr("from 1 to"));
  EXPECT_THAT(refusal_of_simulation("loader_workers", 65), HasSubstr("from 0 to 64"));
  EXPECT_THAT(refusal_of_simulation("emergency", "panic"), HasSubstr("same_batches"));
}

// Whole simulations in this process, on real digits.

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class SimulatorTest : public ::testing::Test {
 protected:
  SimulatorTest()
      : dir_(fs::path(::testing::TempDir()) / ("simulator." + std::to_string(getpid()))) {
    fs::create_directories(dir_);
  }
  ~SimulatorTest() override { fs::remove_all(dir_); }

  WorkerConfig config(const std::string& preset, const nlohmann::json& workload,
                      const nlohmann::json& switches) {
    nlohmann::json all = {
        {"kind", "simulation"},
        {"model", "csfl-cnn"},
        {"threads", 1},
        {"dataset", {{"name", "mnist"}, {"train_samples", 400}, {"test_samples", 32}}},
        {"clients", 10},
        {"clients_per_round", 4},
        {"rounds", 3},
        {"methods", {"random", "highest_loss"}},
        {"repeats", 2},
        {"local_epochs", 1},
        {"batch_size", 8},
        {"learning_rate", 0.05},
        {"fast_mode", false},
        {"parallel_clients", 0},
        {"deadline_seconds", 100}};
    all.merge_patch(workload);
    return played_config(all, preset, switches, dir_, kDatasetsFolder);
  }

  State final_state(const std::string& preset,
                    const nlohmann::json& workload = nlohmann::json::object(),
                    const nlohmann::json& switches = nlohmann::json::object()) {
    const WorkerConfig chosen = config(preset, workload, switches);
    run_simulator(chosen);
    return read_model_file(chosen.model_file);
  }

  fs::path dir_;
};

TEST_F(SimulatorTest, PresetsAndReplicasEndInTheSameBits) {
  const State original = final_state("csfl-original");
  EXPECT_TRUE(compare_states(original, final_state("csfl-optimized")).bit_identical);
  // Its emergency changes results, and comes with other programs' memory: never here.
  EXPECT_TRUE(
      compare_states(original, final_state("csfl-as-implemented", nlohmann::json::object(),
                                           {{"warn_percent", 100}, {"critical_percent", 100}}))
          .bit_identical);
  EXPECT_TRUE(compare_states(original, final_state("csfl-optimized", {{"parallel_clients", 3}}))
                  .bit_identical);
  EXPECT_FALSE(
      compare_states(original, final_state("csfl-original", {{"fast_mode", true}})).bit_identical);
}

// 40 samples are five batches of eight; after the emergency sixteen stay eight, and thirty-two
// become sixteen.
// A batch from another process is the same batch; the processes are gone with their run.
TEST_F(SimulatorTest, LoadersWithProcessesEndInTheSameBits) {
  const State alone =
      final_state("csfl-original", nlohmann::json::object(), {{"loader_workers", 0}});
  for (const char* processes : {"2_processes", "4_processes"}) {
    const State forked =
        final_state("csfl-original", {{"parallel_clients", 2}}, {{"loader_workers", processes}});
    EXPECT_TRUE(compare_states(alone, forked).bit_identical) << processes;
  }
}

TEST_F(SimulatorTest, AnEmergencyAsCodedChangesResultsOneAsMeantDoesNot) {
  const nlohmann::json large = {{"batch_size", 32}};
  const nlohmann::json always = {{"warn_percent", 0},
                                 {"critical_percent", 0},
                                 {"memory_check_rounds", 1},
                                 {"memory_check", "whole_system"}};
  const State calm = final_state("csfl-optimized", large);
  nlohmann::json as_meant = always;
  as_meant["emergency"] = "same_batches";
  EXPECT_TRUE(compare_states(calm, final_state("csfl-optimized", large, as_meant)).bit_identical);
  nlohmann::json as_implemented = always;
  as_implemented["emergency"] = "smaller_batches";
  EXPECT_FALSE(
      compare_states(calm, final_state("csfl-optimized", large, as_implemented)).bit_identical);
}

TEST_F(SimulatorTest, WarningsCarryTheRound) {
  ::testing::internal::CaptureStderr();
  final_state("csfl-as-implemented", {{"methods", {"random"}}, {"repeats", 1}, {"rounds", 7}},
              {{"warn_percent", 0}, {"critical_percent", 100}});
  const std::string said = ::testing::internal::GetCapturedStderr();
  for (const char* round : {"round 1: RAM at ", "round 4: RAM at ", "round 7: RAM at "})
    EXPECT_THAT(said, HasSubstr(round));
  EXPECT_THAT(said, ::testing::Not(HasSubstr("round 2: ")));
}

TEST_F(SimulatorTest, MoreParallelClientsThanMemoryHoldsAreRefused) {
  const WorkerConfig chosen = config("csfl-optimized",
                                     {{"model", "resnet18"},
                                      {"clients", 10000},
                                      {"clients_per_round", 10000},
                                      {"parallel_clients", 10000}},
                                     nlohmann::json::object());
  try {
    run_simulator(chosen);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("workload.parallel_clients: expected at most "));
    EXPECT_THAT(error.message(), HasSubstr("found 10000: 10000 × 170.6 MiB = 1.63 TiB"));
    EXPECT_THAT(error.message(),
                HasSubstr("(4 states × 42.7 MiB), 500.0 MiB according to the guide"));
  }
}

TEST_F(SimulatorTest, ItLearns) {
  const WorkerConfig chosen =
      config("csfl-optimized",
             {{"methods", {"random"}},
              {"repeats", 1},
              {"rounds", 20},
              {"local_epochs", 2},
              {"dataset", {{"train_samples", 2000}, {"test_samples", 500}}}},
             nlohmann::json::object());
  run_simulator(chosen);
  Model model = make_model("csfl-cnn", 1);
  copy_state(read_model_file(chosen.model_file), model.state);
  const SharedSamples samples = load_shared_samples(chosen);
  EXPECT_GT(validate(model, samples.validation, 100, choose_predictions("reduced")), 0.8);
}

}  // namespace
}  // namespace memduel
