#include "analysis/verdicts/lower_bounds.h"

#include <gtest/gtest.h>

#include "analysis/values/synthetic_run.h"

namespace memduel {
namespace {

using nlohmann::json;

constexpr ModelSizes kModel = {1000, 800};

TEST(BoundsOf, AStateDictOneModelForEveryRole) {
  const auto bounds = bounds_of({{"kind", "state-dict"}}, kModel);
  ASSERT_EQ(bounds.size(), 2U);
  EXPECT_EQ(bounds[0].role, "server");
  EXPECT_EQ(bounds[0].bytes, 1000);
  EXPECT_EQ(bounds[1].role, "client_max");
  EXPECT_EQ(bounds[1].bytes, 1000);
}

TEST(BoundsOf, TrainingAddsGradientsAndAdamsTwoMoments) {
  const auto bounds = bounds_of({{"kind", "federated"}, {"optimizer", {{"name", "adam"}}}}, kModel);
  ASSERT_EQ(bounds.size(), 2U);
  EXPECT_EQ(bounds[0].bytes, 1000);
  EXPECT_EQ(bounds[1].bytes, 1000 + 3 * 800);
  EXPECT_NE(bounds[1].formula.find("M + 3 P"), std::string::npos);
}

TEST(BoundsOf, PlainGradientDescentKeepsNoMoments) {
  const auto bounds = bounds_of({{"kind", "federated"}, {"optimizer", {{"name", "sgd"}}}}, kModel);
  EXPECT_EQ(bounds[1].bytes, 1000 + 800);
}

TEST(BoundsOf, OnAGpuTheSameBytesAreThere) {
  const auto bounds = bounds_of({{"kind", "federated"}, {"device", "cuda"}}, kModel);
  ASSERT_EQ(bounds.size(), 2U);
  EXPECT_EQ(bounds[0].metric, "peak_gpu_allocated_bytes");
  EXPECT_EQ(bounds[1].metric, "peak_gpu_allocated_bytes");
  EXPECT_EQ(bounds[1].bytes, 1000 + 3 * 800);
  EXPECT_EQ(bounds_of({{"kind", "federated"}, {"device", "cpu"}}, kModel)[0].metric,
            "peak_rss_above_idle_bytes");
}

TEST(BoundsOf, ACommandNothingIsKnown) {
  EXPECT_TRUE(bounds_of({{"kind", "command"}}, kModel).empty());
}

// ResNet18 for CIFAR: 11,173,962 parameters of 4 bytes, 44,734,408 bytes of state (models test).
TEST(ModelSizes, ComeFromTheEnvironment) {
  const json environment = {{"model", {{"parameters", 11173962}, {"state_bytes", 44734408}}}};
  const auto sizes = model_sizes(environment);
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes->state, 44734408);
  EXPECT_EQ(sizes->parameters, 44695848);
  EXPECT_FALSE(model_sizes(json::object()));
  EXPECT_FALSE(model_sizes(nullptr));
}

TEST(LowerBounds, GiveEachArmsMedianAsAMultiple) {
  RunData run;
  run.config = {{"workload", {{"kind", "state-dict"}}}};
  run.environment = {{"model", {{"parameters", 200}, {"state_bytes", 1000}}}};
  const std::vector<double> of_a = {20000, 30000, 10000};
  const std::vector<double> of_b = {1100, 1300, 1200};
  for (size_t i = 0; i < of_a.size(); ++i) {
    const int block = static_cast<int>(i) + 1;
    const char* metric = "peak_rss_above_idle_bytes";
    run.trials.push_back(make_trial("a", block, "server", {{metric, of_a[i]}}));
    run.trials.push_back(make_trial("b", block, "server", {{metric, of_b[i]}}));
  }
  const auto bounds =
      lower_bounds(run.config, run.environment, observe(run, {"a", "b", "never run"}, 0));
  ASSERT_EQ(bounds.size(), 1U) << "no client was measured";
  const std::map<std::string, double> expected = {{"a", 20}, {"b", 1.2}};
  EXPECT_EQ(bounds[0].multiples, expected);
}

TEST(LowerBounds, AreAbsentWhereTheModelsSizeIsNotKnown) {
  const RunData run = make_duel("peak_rss_above_idle_bytes", {1, 2}, {1, 2});
  EXPECT_TRUE(lower_bounds(run.config, run.environment, observe(run, {"a"}, 0)).empty());
}

}  // namespace
}  // namespace memduel
