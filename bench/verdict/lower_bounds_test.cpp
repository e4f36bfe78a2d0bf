#include <gtest/gtest.h>

#include "analysis_steps.h"
#include "support/synthetic_run.h"

namespace memduel {
namespace {

using nlohmann::json;

constexpr ModelSizes kModel = {1000, 800};

JobFacts holding(const HeldModel& held) {
  JobFacts job;
  job.held_models = {held};
  return job;
}

TEST(BoundsOf, ARoleWithoutCopiesHoldsItsModel) {
  const auto bounds = bounds_of(holding({"server", "peak_rss_above_idle_bytes", 0, ""}), kModel);
  ASSERT_EQ(bounds.size(), 1U);
  EXPECT_EQ(bounds[0].role, "server");
  EXPECT_EQ(bounds[0].metric, "peak_rss_above_idle_bytes");
  EXPECT_EQ(bounds[0].bytes, 1000);
  EXPECT_EQ(bounds[0].formula, "M: the model, 1000 B");
}

TEST(BoundsOf, EachCopyAddsTheParameters) {
  const auto one = bounds_of(holding({"w", "m", 1, "gradients"}), kModel);
  EXPECT_EQ(one.at(0).bytes, 1000 + 800);
  EXPECT_EQ(one[0].formula, "M + P: the model, 1000 B; gradients, 800 B each");
  const auto three = bounds_of(holding({"w", "m", 3, "gradients and two moments"}), kModel);
  EXPECT_EQ(three.at(0).bytes, 1000 + 3 * 800);
  EXPECT_EQ(three[0].formula, "M + 3 P: the model, 1000 B; gradients and two moments, 800 B each");
}

TEST(BoundsOf, WithoutTheCountOfParametersOnlyTheModelIsKnown) {
  EXPECT_EQ(bounds_of(holding({"w", "m", 3, "gradients"}), {1000, 0}).at(0).bytes, 1000);
}

TEST(BoundsOf, AJobThatHoldsNoModelNothingIsKnown) {
  EXPECT_TRUE(bounds_of({}, kModel).empty());
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
  run.job.held_models = {{"server", "peak_rss_above_idle_bytes", 0, ""},
                         {"client_max", "peak_rss_above_idle_bytes", 0, ""}};
  run.environment = {{"model", {{"parameters", 200}, {"state_bytes", 1000}}}};
  const std::vector<double> of_a = {20000, 30000, 10000};
  const std::vector<double> of_b = {1100, 1300, 1200};
  for (size_t i = 0; i < of_a.size(); ++i) {
    const int block = static_cast<int>(i) + 1;
    const char* metric = "peak_rss_above_idle_bytes";
    run.trials.push_back(make_trial("a", block, "server", {{metric, of_a[i]}}));
    run.trials.push_back(make_trial("b", block, "server", {{metric, of_b[i]}}));
  }
  const auto bounds = lower_bounds(run, observe(run, {"a", "b", "never run"}, 0));
  ASSERT_EQ(bounds.size(), 1U) << "no client was measured";
  const std::map<std::string, double> expected = {{"a", 20}, {"b", 1.2}};
  EXPECT_EQ(bounds[0].multiples, expected);
}

TEST(LowerBounds, AreAbsentWhereTheModelsSizeIsNotKnown) {
  const RunData run = make_duel("peak_rss_above_idle_bytes", {1, 2}, {1, 2});
  EXPECT_TRUE(lower_bounds(run, observe(run, {"a"}, 0)).empty());
}

// A server that was told 4.8 MiB above idle held a model of 42.66 MiB: its idle level was read with
// what loading its data had left free.
TEST(LowerBounds, APeakBelowItsBoundIsAWarning) {
  LowerBound bound{"server", "peak_rss_above_idle_bytes", 42.66 * 1048576, "M", {}};
  bound.multiples = {{"original", 18.9}, {"minimal", 4.8 / 42.66}};
  const std::vector<Note> notes = doubts_of_bounds({bound});
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].code, "below_lower_bound");
  EXPECT_EQ(notes[0].message,
            "server.peak_rss_above_idle_bytes of minimal is 0.11 times the theoretical minimum "
            "(42.7 MiB)");
  bound.multiples["minimal"] = 1;
  EXPECT_TRUE(doubts_of_bounds({bound}).empty());
}

}  // namespace
}  // namespace memduel
