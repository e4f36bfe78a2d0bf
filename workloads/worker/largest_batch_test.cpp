#include "budget/largest_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "budget/measured_batch.h"
#include "budget/memory_budget.h"
#include "fl/probes.h"
#include "fl/training.h"
#include "probe.h"
#include "support/catalog_files.h"
#include "util/error.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

const at::Device kCpu(at::kCPU);

WorkerConfig training_of(const std::string& model, const std::string& dataset,
                         const std::string& optimizer = "adam") {
  WorkerConfig config;
  config.workload.kind = "federated";
  config.workload.model = model;
  config.workload.dataset.name = dataset;
  config.workload.clients = 1;
  config.workload.optimizer = {optimizer, 0.001};
  config.data_dir = kDatasetsFolder;
  return config;
}

BudgetReport verified(const WorkerConfig& config, double device_mib) {
  return probe_budget(config, {device_mib * kMiB, 0.7, {1, 1'000'000}, true});
}

/// A tensor of so many MiB a sample and 10 MiB whatever the batch.
void allocate(std::int64_t batch) {
  const torch::Tensor fixed = torch::empty({10, 1 << 20}, torch::kByte);
  const torch::Tensor samples = torch::empty({batch, 1 << 20}, torch::kByte);
}

TEST(StepPeak, IsWhatWasAliveAtOnce) {
  install_torch_probe();
  const double before = live_bytes(kCpu);
  const auto peak = step_peak(allocate, kCpu, 5, before + 100 * kMiB);
  ASSERT_TRUE(peak);
  EXPECT_NEAR(*peak - before, 15 * kMiB, 3 * 4096) << "malloc rounds to pages";
  EXPECT_EQ(live_bytes(kCpu), before);
}

TEST(StepPeak, IsAbsentWhereTheStepHadToBeStopped) {
  install_torch_probe();
  const double before = live_bytes(kCpu);
  EXPECT_FALSE(step_peak(allocate, kCpu, 1 << 20, before + 100 * kMiB)) << "a TiB";
  EXPECT_EQ(live_bytes(kCpu), before);
  EXPECT_NO_THROW(torch::empty({200, 1 << 20}, torch::kByte)) << "the limit is gone";
}

TEST(StepPeak, OfATrainingThatIsStoppedAnywhereLeavesItUsable) {
  install_torch_probe();
  const auto training = make_image_training(training_of("csfl-cnn", "mnist"), kCpu);
  const TrainingStep step = [&](std::int64_t batch) { training->step(batch); };
  step(64);  // gradients and Adam's states are there from now on
  const auto whole = step_peak(step, kCpu, 64, 1e12);
  ASSERT_TRUE(whole);
  const double before = live_bytes(kCpu);
  for (const double share : {0.1, 0.5, 0.9, 0.99})
    EXPECT_FALSE(step_peak(step, kCpu, 64, before + share * (*whole - before))) << share;
  EXPECT_EQ(live_bytes(kCpu), before);
  EXPECT_NEAR(*step_peak(step, kCpu, 64, 1e12), *whole, 0.01 * *whole);
}

// 100 MiB hold 90 samples: 8, 16, 32, 64 and 86 fit, 128, 96 and 91 … do not.
TEST(LargestBatch, IsSearchedForWithStepsOfItsSize) {
  install_torch_probe();
  const double budget = live_bytes(kCpu) + 100 * kMiB + 3 * 4096;
  const FoundBatch found = largest_batch(allocate, kCpu, budget, {8, 8192}, BatchSearch::search);
  EXPECT_TRUE(found.fits);
  EXPECT_THAT(found.batch, AllOf(Ge(85), Le(90)));
}

struct Pair {
  const char* model;
  const char* dataset;
  const char* optimizer;
  double device_mib;  ///< 63% of it may be used
};

void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.model << " on " << pair.dataset;
}

class BudgetOfPair : public testing::TestWithParam<Pair> {};

TEST_P(BudgetOfPair, GivesABatchWhoseTruePeakIsJustBelowTheBudget) {
  const Pair& pair = GetParam();
  const BudgetReport report =
      verified(training_of(pair.model, pair.dataset, pair.optimizer), pair.device_mib);
  const double budget = 0.63 * pair.device_mib * kMiB;
  ASSERT_TRUE(report.true_peak_bytes);
  EXPECT_TRUE(report.found.fits);
  EXPECT_THAT(*report.true_peak_bytes, AllOf(Ge(0.85 * budget), Le(budget)));
  // The scratch memory of a convolution depends on the instructions that the processor has:
  // oneDNN's kernels for SSE4.1 miss the line by 2.03%, those for AVX2 by less.
  EXPECT_NEAR(*report.true_peak_bytes / report.found.estimated_bytes, 1, kHeldBack);
}

INSTANTIATE_TEST_SUITE_P(Images, BudgetOfPair,
                         testing::Values(Pair{"csfl-cnn", "mnist", "sgd", 60},
                                         Pair{"mnist-cnn", "mnist", "adam", 100},
                                         Pair{"cifar-cnn", "dummy-cifar10", "adam", 120},
                                         Pair{"csfl-light-cnn", "dummy-cifar10", "sgd", 120}));

// 21,840 parameters of 4 bytes; Adam keeps two states of each. A sample is 28 × 28 floats and its
// label.
TEST(MeasuredBudget, CountsWhatATrainingHolds) {
  const BudgetReport report = verified(training_of("csfl-cnn", "mnist"), 60);
  EXPECT_EQ(report.from_shapes.parameter_bytes, 87'360);
  EXPECT_EQ(report.from_shapes.optimizer_bytes, 2 * 87'360);
  EXPECT_EQ(report.from_shapes.sample_bytes, 28 * 28 * 4 + 8);
  EXPECT_NEAR(report.measured.parameter_bytes, 87'360, 2048) << "malloc rounds";
  EXPECT_NEAR(report.measured.gradient_bytes, 87'360, 2048);
  EXPECT_NEAR(report.measured.optimizer_bytes, 2 * 87'360, 4096);
  EXPECT_GT(report.measured.sample_bytes, report.from_shapes.sample_bytes);
}

TEST(MeasuredBudget, SaysWhereNotEvenTheLeastBatchFits) {
  const BudgetReport report = verified(training_of("resnet18", "dummy-cifar10"), 200);
  EXPECT_FALSE(report.found.fits) << "its parameters, gradients and Adam's states take 171 MiB";
  EXPECT_EQ(report.found.batch, 1);
  EXPECT_TRUE(report.is_exceeded());
}

TEST(MeasuredBudget, RefusesAWorkloadThatTrainsNothing) {
  WorkerConfig config = training_of("resnet18", "none");
  config.workload.kind = "state-dict";
  try {
    verified(config, 200);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.message(), HasSubstr("workload.kind: kind \"state-dict\" trains no model"));
  }
}

}  // namespace
}  // namespace memduel
