#include "verdict/results.h"

#include <gmock/gmock.h>

#include "verdict/gates.h"

namespace memduel {
namespace {

TrialData trial(const std::string& arm, TrialKind kind, const std::string& failure) {
  TrialData trial;
  trial.arm = arm;
  trial.kind = kind;
  trial.failure = failure;
  trial.status = failure.empty() ? TrialStatus::ok : TrialStatus::failed;
  return trial;
}

Results results_of(std::vector<TrialData> trials) {
  Results results;
  results.baseline = "a";
  for (const char* name : {"a", "b"}) {
    ArmSummary arm;
    arm.name = name;
    for (const TrialData& one : trials)
      if (one.arm == name && one.kind == TrialKind::measure)
        ++(one.status == TrialStatus::ok ? arm.trials_ok : arm.trials_failed);
    results.arms.push_back(std::move(arm));
  }
  results.trials = std::move(trials);
  return results;
}

constexpr const char* kFailure =
    "command exited with status 3\n  | reading rows.csv\n  | boom: no input";

TEST(Overall, OfARunThatEndedInItsWarmUpGivesTheFirstFailureAndItsLastLine) {
  const Results results = results_of({trial("a", TrialKind::warmup, kFailure)});
  const Overall overall = overall_of(results, {"b"});
  EXPECT_EQ(overall.outcome, OverallOutcome::not_measured);
  EXPECT_EQ(overall.nothing,
            "no trial was measured, because every trial of a failed; the first: command exited "
            "with status 3 (“boom: no input”)");
}

TEST(Overall, OfARunWithoutTrialsHasNoFailureToGive) {
  EXPECT_EQ(overall_of(results_of({}), {"b"}).nothing, "no trial was measured");
}

TEST(Overall, OfAVariantThatFailedInEveryTrialGivesTheFirstFailure) {
  const Results results = results_of(
      {trial("b", TrialKind::measure, ""),
       trial("a", TrialKind::measure, "command was ended by signal 11 (Segmentation fault)"),
       trial("a", TrialKind::measure, kFailure)});
  EXPECT_EQ(overall_of(results, {"b"}).nothing,
            "every trial of a failed; the first: command was ended by signal 11 (Segmentation "
            "fault)");
}

TEST(Overall, CutsALongLineThatAFailedTrialPrinted) {
  const Results results = results_of({trial(
      "a", TrialKind::warmup, "command exited with status 1\n  | " + std::string(999, 'x'))});
  EXPECT_THAT(overall_of(results, {"b"}).nothing,
              testing::EndsWith("(“" + std::string(200, 'x') + "…”)"));
}

}  // namespace
}  // namespace memduel
