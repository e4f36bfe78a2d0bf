#include "analysis/equivalence.h"

#include <gtest/gtest.h>

#include "analysis/synthetic_run.h"

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
  run.model_differences.push_back({"a", "b", false, 1e-7});
  EXPECT_EQ(equivalence(run).max_abs_diff, 1e-7);
}

TEST(Equivalence, GivesTheMediansOfQualityMetrics) {
  const auto pair = equivalence(with_models("x", "x")).metrics.at("validation_accuracy_ratio");
  EXPECT_DOUBLE_EQ(pair.first, 0.85);
  EXPECT_DOUBLE_EQ(pair.second, 0.86);
}

}  // namespace
}  // namespace memduel
