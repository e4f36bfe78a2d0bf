#include "budget/memory_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kdgat/graph_models.h"
#include "test_example_budget.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// 16,000 × 0.7 × 0.9 = 10,080; 500 + 10 + 5 + 0 + 15 + 15 = 545; 10,080 - 545 = 9,535.
TEST(MemoryBudget, SubtractsWhatDoesNotDependOnTheBatch) {
  const MemoryBudget budget = plan_budget(sixteen_thousand());
  EXPECT_DOUBLE_EQ(budget.usable_bytes / kMiB, 10080);
  EXPECT_DOUBLE_EQ(budget.context_bytes / kMiB, 500);
  EXPECT_DOUBLE_EQ(budget.model_bytes / kMiB, 10);
  EXPECT_DOUBLE_EQ(budget.embedding_bytes / kMiB, 5);
  EXPECT_DOUBLE_EQ(budget.gradient_bytes / kMiB, 15);
  EXPECT_DOUBLE_EQ(budget.teacher_bytes / kMiB, 15);
  EXPECT_DOUBLE_EQ(budget.static_bytes / kMiB, 545);
  EXPECT_DOUBLE_EQ(budget.available_bytes / kMiB, 9535);
}

TEST(MemoryBudget, GivesAdamTwoStatesOfTheParameters) {
  BudgetInput input = sixteen_thousand();
  input.optimizer_states = 2;
  EXPECT_DOUBLE_EQ(plan_budget(input).optimizer_bytes / kMiB, 30);
  EXPECT_DOUBLE_EQ(plan_budget(input).available_bytes / kMiB, 9505);
}

// The code: (9,535 - 50) / 1 = 9,485, cut to 8,192. Activations for every sample: 9,535 / 51 = 186.
TEST(MemoryBudget, CountsActivationsForEverySampleWhereTheCodeCountsThemOnce) {
  BudgetInput input = sixteen_thousand();
  input.sample_bytes = kMiB;
  input.activation_bytes = 50 * kMiB;
  const MemoryBudget budget = plan_budget(input);
  EXPECT_EQ(budget.batch_as_implemented, 8192);
  EXPECT_EQ(budget.batch, 186);
  EXPECT_LE(estimated_bytes(budget, 186), budget.usable_bytes);
  EXPECT_GT(estimated_bytes(budget, 187), budget.usable_bytes);
  EXPECT_GT(estimated_bytes(budget, budget.batch_as_implemented), 40 * budget.usable_bytes);
}

TEST(MemoryBudget, StaysWithinTheBounds) {
  BudgetInput input = sixteen_thousand();
  input.sample_bytes = 1;
  EXPECT_EQ(plan_budget(input).batch, 8192);
  input.most_batch = 4096;
  EXPECT_EQ(plan_budget(input).batch, 4096);
  input.sample_bytes = 3000 * kMiB;
  const MemoryBudget budget = plan_budget(input);
  EXPECT_EQ(budget.batch, 8);
  EXPECT_THAT(budget.warnings, ElementsAre("the smallest batch, 8, does not fit: 3 samples do"));
}

TEST(MemoryBudget, WithoutADeviceRecommendsTheLeastBatchAndSaysSo) {
  BudgetInput input = sixteen_thousand();
  input.device_bytes = std::nullopt;
  const MemoryBudget budget = plan_budget(input);
  EXPECT_EQ(budget.device_bytes, 0);
  EXPECT_EQ(budget.batch, 8);
  EXPECT_THAT(budget.warnings, ElementsAre(HasSubstr("no device")));
}

TEST(MemoryBudget, WithNothingLeftRecommendsTheLeastBatchAndSaysSo) {
  BudgetInput input = sixteen_thousand();
  input.device_bytes = 800 * kMiB;  // 504 to use
  input.sample_bytes = kMiB;
  const MemoryBudget budget = plan_budget(input);
  EXPECT_EQ(budget.available_bytes, 0);
  EXPECT_EQ(budget.batch, 8);
  EXPECT_EQ(budget.batch_as_implemented, 8);
  EXPECT_THAT(budget.warnings, ElementsAre(HasSubstr("exceeds the usable memory")));
}

TEST(MemoryBudget, OfSamplesWithoutBytesRecommendsTheLeastBatch) {
  EXPECT_EQ(plan_budget(sixteen_thousand()).batch, 8);
  EXPECT_THAT(plan_budget(sixteen_thousand()).warnings, IsEmpty());
}

TEST(MemoryBudget, AimsAtFifteenPercentMoreThanTheSafetyFactor) {
  EXPECT_DOUBLE_EQ(utilization_for(0.5), 0.65);
  EXPECT_DOUBLE_EQ(utilization_for(0.6), 0.75);
  EXPECT_DOUBLE_EQ(utilization_for(0.8), 0.85);
}

// 2 × (100×64×1×4 + 500×64×1×4 + 500×1×4): the values that the code assumes when it knows nothing.
TEST(ActivationFormula, HasTheCodesValuesWhenNothingIsKnown) {
  EXPECT_DOUBLE_EQ(graph_activation_bytes({}, 4), 311'200);
  EXPECT_DOUBLE_EQ(graph_activation_bytes({}, 2), 155'600);
}

// 2 × (30×240×4×4 + 40×240×4×4 + 40×4×4×4): layers of 240 channels, four of them, four heads.
TEST(ActivationFormula, GrowsWithLayersChannelsAndHeads) {
  const GraphNetwork network = network_of(find_graph_model("vgae-large"), 30, 40);
  EXPECT_EQ(network.layers, 4);
  EXPECT_EQ(network.channels, 240);
  EXPECT_EQ(network.heads, 4);
  EXPECT_DOUBLE_EQ(graph_activation_bytes(network, 4), 2 * 4 * 4 * (70 * 240 + 40 * 4));
}

// 100 × 52 + 500 × 60 + 8
TEST(SampleBytes, AreThoseOfTheGraphsTensors) {
  EXPECT_DOUBLE_EQ(graph_sample_bytes(100, 500), 35'208);
}

}  // namespace
}  // namespace memduel
