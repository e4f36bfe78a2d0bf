#include <gtest/gtest.h>

#include "analysis_steps.h"
#include "support/synthetic_run.h"

namespace memduel {
namespace {

RunData with_models(const std::string& of_a, const std::string& of_b) {
  RunData run = make_duel("validation_accuracy_ratio", {0.80, 0.90, 0.85}, {0.81, 0.91, 0.86});
  for (TrialData& trial : run.trials) trial.model_sha256 = trial.arm == "a" ? of_a : of_b;
  return run;
}

Equivalence equivalence(const RunData& run) {
  const Observations observations = observe(run, {"a", "b"}, 0);
  return equivalence_of(run, observations.arms[0], observations.arms[1]);
}

TEST(Equivalence, ComparesTheHashesThatTheTrialsAgreeOn) {
  EXPECT_EQ(equivalence(with_models("x", "x")).bit_identical, true);
  EXPECT_EQ(equivalence(with_models("x", "x")).max_abs_diff, 0);
  EXPECT_EQ(equivalence(with_models("x", "y")).bit_identical, false);
  EXPECT_FALSE(equivalence(with_models("x", "y")).max_abs_diff);
}

TEST(Equivalence, CannotSayWhenAnArmDisagreesWithItself) {
  RunData run = with_models("x", "x");
  run.trials.front().model_sha256 = "z";
  EXPECT_FALSE(agreed_model(run, "a"));
  EXPECT_FALSE(equivalence(run).bit_identical);
}

TEST(Equivalence, PrefersModelsThatWereComparedElementByElement) {
  RunData run = with_models("x", "y");
  run.artifact_differences.push_back({"a", "b", kFinalModel, false, 1e-7, {}});
  EXPECT_EQ(equivalence(run).max_abs_diff, 1e-7);
}

/// Three blocks in which both arms leave a file "model", another one in each block as the config
/// asks for; the candidate's differs in the last.
RunData with_files() {
  RunData run = make_duel("accuracy", {0.5, 0.7, 0.6}, {0.4, 0.7, 0.6});
  run.config.workload.job.processes[0].argv = {"train", "{block}"};
  for (TrialData& trial : run.trials) {
    trial.files["model"] = "hash of block " + std::to_string(trial.block);
    if (trial.arm == "b" && trial.block == 3) trial.files["model"] = "another";
  }
  return run;
}

TEST(Equivalence, ComparesFilesBlockByBlock) {
  RunData run = with_files();
  run.artifact_differences.push_back({"a", "b", "model", false, 0.25, 0.125});
  const Equivalence result = equivalence(run);
  ASSERT_EQ(result.files.size(), 1U);
  EXPECT_EQ(result.files[0].file, "model");
  EXPECT_EQ(result.files[0].blocks, 3);
  EXPECT_EQ(result.files[0].identical_blocks, 2);
  EXPECT_EQ(result.files[0].max_difference, 0.25);
  EXPECT_EQ(result.files[0].max_within_baseline, 0.125);
  EXPECT_EQ(result.bit_identical, false);
  EXPECT_FALSE(result.max_abs_diff);
}

TEST(Equivalence, IsBitIdenticalWhenEveryFileOfEveryBlockIs) {
  RunData run = with_files();
  run.trials.back().files["model"] = "hash of block 3";
  EXPECT_EQ(equivalence(run).bit_identical, true);
  run.trials.back().status = TrialStatus::failed;
  EXPECT_EQ(equivalence(run).files.at(0).blocks, 2) << "a failed trial has left nothing";
}

/// What the trials of both arms printed, block by block.
RunData with_output(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  RunData run = make_duel("accuracy", {0.5, 0.7, 0.6}, {0.4, 0.7, 0.6});
  for (TrialData& trial : run.trials)
    trial.files[kStandardOutput] =
        (trial.arm == "a" ? a : b).at(static_cast<std::size_t>(trial.block) - 1);
  return run;
}

TEST(Equivalence, IsOfWhatIsPrintedWhereTheBaselinePrintsTheSameInEveryRun) {
  EXPECT_EQ(equivalence(with_output({"x", "x", "x"}, {"x", "x", "x"})).bit_identical, true);
  EXPECT_EQ(equivalence(with_output({"1", "2", "3"}, {"1", "2", "3"})).bit_identical, true);
  EXPECT_EQ(equivalence(with_output({"x", "x", "x"}, {"y", "y", "y"})).bit_identical, false);
  EXPECT_EQ(equivalence(with_output({"x", "x", "x"}, {"x", "x", "y"})).bit_identical, false);
  const Equivalence noise =
      equivalence(with_output({"8:01", "8:02", "8:03"}, {"8:01", "8:04", "x"}));
  EXPECT_FALSE(noise.bit_identical) << "a clock is no result";
  ASSERT_EQ(noise.files.size(), 1U);
  EXPECT_TRUE(noise.files[0].variation);
  EXPECT_EQ(noise.files[0].identical_blocks, 1);
}

TEST(Equivalence, OfOneBlockCannotTellAClockFromAResult) {
  RunData run = with_output({"8:01", "", ""}, {"8:02", "", ""});
  std::erase_if(run.trials, [](const TrialData& trial) { return trial.block > 1; });
  EXPECT_TRUE(equivalence(run).files.empty());
}

TEST(Equivalence, OfAFileThatVariesByItselfIsNotKnown) {
  RunData run = with_files();
  run.config.workload.job.processes[0].argv = {"train"};
  const Equivalence varies = equivalence(run);
  EXPECT_FALSE(varies.bit_identical);
  ASSERT_EQ(varies.files.size(), 1U);
  EXPECT_TRUE(varies.files[0].variation);
  for (TrialData& trial : run.trials) trial.files["log"] = trial.arm == "a" ? "before" : "after";
  EXPECT_EQ(equivalence(run).bit_identical, false) << "another file tells";
}

TEST(Equivalence, TakesBracesInTwosForText) {
  RunData run = with_files();
  run.config.workload.job.processes[0].argv = {"train", "{{block}}"};
  EXPECT_FALSE(equivalence(run).bit_identical) << "it varies by itself";
}

TEST(Equivalence, TakesWhatACommandPrintsUnderItsOwnName) {
  RunData run = with_files();
  const auto pair = equivalence(run).metrics.at("accuracy");
  EXPECT_DOUBLE_EQ(pair.first, 0.6);
  EXPECT_DOUBLE_EQ(pair.second, 0.6);
  run.config.workload = {{}, {{"kind", "google-benchmark"}}};
  EXPECT_TRUE(equivalence(run).metrics.empty());
}

TEST(Equivalence, GivesTheMediansOfQualityMetrics) {
  const auto pair = equivalence(with_models("x", "x")).metrics.at("validation_accuracy_ratio");
  EXPECT_DOUBLE_EQ(pair.first, 0.85);
  EXPECT_DOUBLE_EQ(pair.second, 0.86);
}

}  // namespace
}  // namespace memduel
