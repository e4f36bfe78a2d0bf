// Whole studies in this process.
#include "cbramod/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fl/models.h"
#include "fl/probes.h"
#include "support/worker_runs.h"
#include "test_checkpoint_files.h"
#include "util/error.h"

namespace memduel {
namespace {

/// Two fine-tunings of a preset end in this state.
State final_state_of(const std::string& preset) {
  const PlayedStudy study(::testing::TempDir());
  const WorkerConfig config = study.config(preset);
  run_study(config);
  return read_model_file(config.model_file);
}

TEST(Study, PresetsEndInTheSameBits) {
  const State original = final_state_of("cbramod-original");
  EXPECT_TRUE(compare_states(original, final_state_of("cbramod-as-implemented")).bit_identical);
  EXPECT_TRUE(compare_states(original, final_state_of("cbramod-optimized")).bit_identical);
}

std::vector<std::string> checkpoints_left(const nlohmann::json& switches) {
  const PlayedStudy study(::testing::TempDir());
  run_study(study.config("cbramod-original", {{"trials", 3}, {"epochs", 3}}, switches));
  return files_below(study.path() / "checkpoints");
}

TEST(Study, KeepsTheCheckpointsThatItsRulesKeep) {
  const std::vector<std::string> all = checkpoints_left(nlohmann::json::object());
  EXPECT_EQ(all.size(), 3U);
  EXPECT_EQ(checkpoints_left({{"checkpoint_retention", "newest"}, {"max_checkpoints", 2}}).size(),
            2U);
  const auto best = checkpoints_left(
      {{"checkpoint_retention", "best"}, {"max_checkpoints", 1}, {"cleanup_older_than_days", 0}});
  EXPECT_LE(best.size(), 2U);  // the best and the newest
  const auto kappa_of = [](const std::string& name) { return name.substr(name.find("_kappa_")); };
  const auto highest = std::ranges::max_element(
      all, [&](const auto& a, const auto& b) { return kappa_of(a) < kappa_of(b); });
  EXPECT_THAT(best, ::testing::Contains(*highest));
  // Younger than seven days.
  EXPECT_EQ(checkpoints_left({{"checkpoint_retention", "best"}, {"max_checkpoints", 1}}), all);
}

double peak_bytes_of(const nlohmann::json& workload, const nlohmann::json& switches) {
  const PlayedStudy study(::testing::TempDir());
  const WorkerConfig config = study.config("cbramod-original", workload, switches);
  const std::int64_t before = torch_bytes().live;
  reset_torch_peak();
  run_study(config);
  return static_cast<double>(torch_bytes().peak - before);
}

/// Of a study whose data are large: 1,000 epochs of 4 channels and 5 s, 16 MB. In units of the
/// data.
constexpr double kData = 1000.0 * (4 * 5 * 200 * 4 + 8);
double peak_of(const nlohmann::json& workload, const nlohmann::json& switches) {
  nlohmann::json large = {{"dataset", {{"train_samples", 80}, {"test_samples", 920}}},
                          {"epochs", 1}};
  large.merge_patch(workload);
  return peak_bytes_of(large, switches) / kData;
}

// The second's data are loaded while the first's, its model, gradients, averages and best state
// live. What training takes beside the data it takes later, alone.
TEST(StudyBytes, WithoutAScopeTwoFineTuningsMeet) {
  install_torch_probe();
  const nlohmann::json none = nlohmann::json::object();
  const nlohmann::json scope = {{"cleanup_between_trials", "scope_then_cache_then_trim"}};
  const double alone = peak_of({{"trials", 1}}, none);
  EXPECT_LT(alone, 1.7);
  EXPECT_NEAR(peak_of({{"trials", 2}}, scope), alone, 0.02);
  const double met = peak_of({{"trials", 2}}, none);
  EXPECT_GT(met, 2.05);
  EXPECT_NEAR(peak_of({{"trials", 2}}, {{"cleanup_between_trials", "as_implemented"}}), met, 0.02);
}

// A rate of almost nothing learns nothing: all of them are pruned, and each keeps its data.
TEST(StudyBytes, PrunedFineTuningsStayUntilSomethingCollects) {
  install_torch_probe();
  const nlohmann::json learns_nothing = {{"trials", 4}, {"learning_rates", {1e-12}}};
  for (const char* cleanup : {"none", "as_implemented"}) {
    EXPECT_GT(peak_of(learns_nothing, {{"cleanup_between_trials", cleanup}}), 4.1);
    EXPECT_LT(peak_of(learns_nothing,
                      {{"cleanup_between_trials", cleanup}, {"pruned_trial", "cleaned_up"}}),
              2.3);
  }
  EXPECT_LT(peak_of(learns_nothing, {{"cleanup_between_trials", "scope_then_cache_then_trim"}}),
            1.7);
}

// Every second one learns, and its cleanup collects.
TEST(StudyBytes, TheNextCleanupCollectsPrunedFineTunings) {
  install_torch_probe();
  const nlohmann::json every_second = {{"trials", 4}, {"learning_rates", {1e-12, 0.003}}};
  EXPECT_LT(peak_of(every_second, {{"cleanup_between_trials", "as_implemented"}}), 2.8);
  EXPECT_GT(peak_of(every_second, {{"cleanup_between_trials", "none"}}), 3.05);
}

// Each one's tenth epoch frees those before: two meet, as when there are but two.
TEST(StudyBytes, TheCleanupOfEveryTenthEpochCollectsThemToo) {
  install_torch_probe();
  const auto peak = [](int trials, int epochs, int every) {
    return peak_bytes_of(
        {{"trials", trials}, {"epochs", epochs}, {"patience", 20}, {"learning_rates", {1e-12}}},
        {{"cleanup_between_trials", "as_implemented"}, {"cleanup_every_epochs", every}});
  };
  const double two = peak(2, 2, 0);
  const double four = peak(4, 2, 0);
  EXPECT_GT(four - two, 2 * 60.0 / 1000 * kData);  // two sets of 60 epochs
  EXPECT_NEAR(peak(4, 11, 10), two, 0.01 * two);
  EXPECT_NEAR(peak(4, 9, 10), four, 0.01 * four);
}

TEST(Study, Fp16IsRefusedOnTheCpu) {
  const PlayedStudy study(::testing::TempDir());
  EXPECT_THROW(run_study(study.config("cbramod-original", nlohmann::json::object(),
                                      {{"mixed_precision", "fp16"}})),
               Error);
}

}  // namespace
}  // namespace memduel
