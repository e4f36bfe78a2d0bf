#include "fine_tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fl/models.h"
#include "fl/probes.h"
#include "support/worker_runs.h"

namespace memduel {
namespace {

Scores of_counts(const std::vector<std::vector<int>>& counts) {
  Confusion confusion(counts.size());
  for (std::size_t label = 0; label < counts.size(); ++label)
    for (std::size_t answer = 0; answer < counts.size(); ++answer)
      for (int i = 0; i < counts[label][answer]; ++i) confusion.add(label, answer);
  return confusion.scores();
}

// Agreement 35 of 50, by chance 0.5: (0.7 - 0.5) / 0.5. F1 40 / 55 and 30 / 45, half each.
TEST(Scores, AreThoseOfTheTextbook) {
  const Scores scores = of_counts({{20, 5}, {10, 15}});
  EXPECT_DOUBLE_EQ(scores.accuracy, 0.7);
  EXPECT_DOUBLE_EQ(scores.kappa, 0.4);
  EXPECT_DOUBLE_EQ(scores.f1, (40.0 / 55 + 30.0 / 45) / 2);
}

TEST(Scores, OneAnswerToEverythingHasNoKappa) {
  const Scores scores = of_counts({{10, 0, 0}, {10, 0, 0}, {10, 0, 0}});
  EXPECT_DOUBLE_EQ(scores.accuracy, 1.0 / 3);
  EXPECT_DOUBLE_EQ(scores.kappa, 0);
  EXPECT_DOUBLE_EQ(scores.f1, 1.0 / 3 * 0.5);
}

TEST(Scores, AllRightIsOneAndNothingIsZero) {
  EXPECT_DOUBLE_EQ(of_counts({{4, 0}, {0, 6}}).kappa, 1);
  EXPECT_DOUBLE_EQ(of_counts({{4, 0}, {0, 6}}).f1, 1);
  EXPECT_DOUBLE_EQ(of_counts({{0, 0}, {0, 0}}).kappa, 0);
  EXPECT_DOUBLE_EQ(of_counts({{5, 0}, {0, 0}}).kappa, 0);
}

constexpr std::int64_t kMb = 1 << 20;

FineTuningSwitches watching(MemoryBaseline from) {
  FineTuningSwitches switches;
  switches.memory_threshold_mb = 1000;
  switches.memory_baseline = from;
  return switches;
}

TEST(MemoryWatch, IsAboveBeyondTheThresholdAndNotAtIt) {
  std::int64_t resident = 500 * kMb;
  const MemoryWatch watch(watching(MemoryBaseline::trial), [&] { return resident; });
  resident = 1500 * kMb;
  EXPECT_EQ(watch.growth(), 1000 * kMb);
  EXPECT_FALSE(watch.is_above());
  ++resident;
  EXPECT_TRUE(watch.is_above());
  resident = 100 * kMb;
  EXPECT_EQ(watch.growth(), -400 * kMb);
  EXPECT_FALSE(watch.is_above());
}

// CBraMod's manager takes a new baseline for each trial: a leak of 400 MB a trial is never seen.
TEST(MemoryWatch, SlowGrowthIsSeenFromTheStudysBeginOnly) {
  for (const auto from : {MemoryBaseline::trial, MemoryBaseline::study}) {
    std::int64_t resident = 0;
    MemoryWatch watch(watching(from), [&] { return resident; });
    int warnings = 0;
    for (int trial = 1; trial <= 5; ++trial) {
      watch.trial_begins();
      resident += 400 * kMb;
      warnings += watch.is_above() ? 1 : 0;
    }
    EXPECT_EQ(warnings, from == MemoryBaseline::study ? 3 : 0);
  }
}

TEST(MemoryWatch, WhatCannotBeReadIsNeverAbove) {
  const MemoryWatch watch(watching(MemoryBaseline::study), [] { return std::nullopt; });
  EXPECT_FALSE(watch.growth());
  EXPECT_FALSE(watch.is_above());
}

TEST(MemoryWatch, ReadsTheResidentSetOfThisProcess) {
  EXPECT_GT(resident_bytes().value_or(0), 10 * kMb);
}

using ::testing::HasSubstr;

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

struct Tuned {
  FineTuningResult result;
  State state;
};

/// One fine-tuning; `looks` says how many of the first looks at memory are above the threshold.
Tuned tune(const nlohmann::json& workload, const nlohmann::json& switches, int looks = 0) {
  const PlayedStudy study(::testing::TempDir());
  const WorkerConfig config = study.config("cbramod-original", workload, switches);
  const FineTuningSwitches chosen = make_fine_tuning_switches(config.optimizations);
  const EpochFile data(study.path() / "epochs.bin", config.workload, config.data_dir);
  bool is_baseline = true;
  const MemoryWatch watch(chosen, [&]() -> std::int64_t {
    const bool above = !is_baseline && looks-- > 0;
    is_baseline = false;
    return above ? kHuge : 0;
  });
  torch::set_num_threads(1);
  FineTuning one(config.workload, chosen, data, watch, 1, 7);
  one.train([] {});
  return {one.result(), one.state()};
}

/// The scores of a network of that state for noise.
torch::Tensor scores_of(const State& state) {
  const Model model = make_model("cbramod-small", 1);
  copy_state(state, model.state);
  model.network->eval();
  const torch::NoGradGuard no_grad;
  torch::manual_seed(2);
  return model.network->forward(torch::randn({8, 4, 5, 200}));
}

double distance(const Tuned& a, const Tuned& b) {
  return (scores_of(a.state) - scores_of(b.state)).abs().max().item<double>();
}

/// Enough to learn from.
const nlohmann::json kLonger = {{"epochs", 8}, {"dataset", {{"train_samples", 120}}}};

TEST(FineTuning, LearnsTheStages) {
  const Tuned tuned = tune(kLonger, nlohmann::json::object());
  EXPECT_GT(tuned.result.scores.kappa, 0.5);
  EXPECT_GT(tuned.result.scores.accuracy, 0.6);
}

TEST(FineTuning, RecomputedLayersEndInTheSameBits) {
  const Tuned plain = tune(nlohmann::json::object(), nlohmann::json::object());
  const Tuned recomputed =
      tune(nlohmann::json::object(), {{"gradient_checkpointing", "per_block"}});
  EXPECT_TRUE(compare_states(plain.state, recomputed.state).bit_identical);
}

TEST(FineTuning, TheBestStateIsTheSameWhereverItIs) {
  const Tuned plain = tune({{"epochs", 4}}, nlohmann::json::object());
  const Tuned on_cpu = tune({{"epochs", 4}}, {{"best_state", "cpu"}});
  EXPECT_TRUE(compare_states(plain.state, on_cpu.state).bit_identical);
}

TEST(FineTuning, Bf16LearnsLikewise) {
  install_torch_probe();
  const Tuned half = tune(kLonger, {{"mixed_precision", "bf16"}});
  EXPECT_GT(half.result.scores.kappa, 0.5);
  // Half of the bytes, but for what stays in 32 bits.
  const Tuned plain = tune({{"epochs", 1}}, nlohmann::json::object());
  EXPECT_LT(static_cast<double>(half.result.parts.activations),
            0.75 * static_cast<double>(plain.result.parts.activations));
}

// Without dropout a batch in two halves has the gradient of the whole but for rounding; a step of
// half of the samples has another.
TEST(FineTuning, SmallerBatchesKeepTheEffectiveBatch) {
  const nlohmann::json workload = {{"dropout", 0}};
  ::testing::internal::CaptureStderr();
  const Tuned halved = tune(workload, {{"on_threshold", "smaller_batches"}}, 2);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("batches of 8 are now split into parts of 4"));
  EXPECT_THAT(said, HasSubstr("batches of 8 are now split into parts of 2"));
  EXPECT_EQ(halved.result.samples_at_once, 2U);
  const Tuned whole = tune(workload, nlohmann::json::object());
  EXPECT_EQ(whole.result.samples_at_once, 8U);
  const Tuned other = tune({{"dropout", 0}, {"batch_size", 4}}, nlohmann::json::object());
  EXPECT_LT(distance(halved, whole), 0.01);
  EXPECT_GT(distance(other, whole), 0.1);
}

TEST(FineTuning, ABatchOfOneIsAsSmallAsItGets) {
  const Tuned tuned = tune({{"batch_size", 3}}, {{"on_threshold", "smaller_batches"}}, 1000000);
  EXPECT_EQ(tuned.result.samples_at_once, 1U);
  EXPECT_EQ(tuned.result.epochs, 2);
}

TEST(FineTuning, AnEarlyStopEndsItAfterTheStep) {
  ::testing::internal::CaptureStderr();
  const Tuned stopped = tune({{"epochs", 50}}, {{"on_threshold", "early_stop"}}, 1);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("more than 1000.0 MiB above the baseline; training stops"));
  EXPECT_TRUE(stopped.result.stopped);
  EXPECT_EQ(stopped.result.epochs, 1);
}

TEST(FineTuning, PatienceEndsOneThatNoLongerImproves) {
  const Tuned tuned = tune({{"epochs", 50}, {"patience", 2}, {"learning_rates", {1e-12}}},
                           nlohmann::json::object());
  EXPECT_EQ(tuned.result.epochs, 3);
  EXPECT_EQ(tuned.result.best_epoch, 1);
}

// 76,165 parameters; AdamW has two averages of each. 60 epochs of 4 × 5 × 200 values and labels.
TEST(FineTuning, PartsAreThoseOfTheShapes) {
  const TrainingParts parts = tune(nlohmann::json::object(), nlohmann::json::object()).result.parts;
  EXPECT_EQ(parts.parameters, 4 * 76165);
  EXPECT_EQ(parts.gradients, 4 * 76165);
  EXPECT_EQ(parts.optimizer, 8 * 76165);
  EXPECT_EQ(parts.data, 60 * (4 * 5 * 200 * 4 + 8));
}

}  // namespace
}  // namespace memduel
