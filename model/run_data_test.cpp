#include "base/declared_directions.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

RunData run_with(const std::vector<std::set<DeclaredDirection>>& of_trials) {
  RunData run;
  for (const auto& declared : of_trials) {
    TrialData& trial = run.trials.emplace_back();
    trial.roles.emplace_back().declared = declared;
  }
  return run;
}

TEST(JoinDeclarations, ATrialsDeclarationIsTheRuns) {
  RunData run = run_with({{}, {{"throughput", Direction::higher}}});
  run.job.better = {{"loss", Direction::lower}, {"throughput", Direction::undeclared}};
  join_declarations(run);
  EXPECT_THAT(run.job.better,
              ElementsAre(Pair("loss", Direction::lower), Pair("throughput", Direction::higher)));
  EXPECT_THAT(run.warnings, IsEmpty());
}

TEST(JoinDeclarations, TwoThatContradictCountForNothingHoweverOftenEachIsMade) {
  const DeclaredDirection higher = {"score", Direction::higher};
  const DeclaredDirection lower = {"score", Direction::lower};
  for (const auto& of_trials : std::vector<std::vector<std::set<DeclaredDirection>>>{
           {{higher}, {lower}}, {{higher, lower}}, {{higher}, {lower}, {higher}, {higher}}}) {
    RunData run = run_with(of_trials);
    join_declarations(run);
    EXPECT_EQ(run.job.better.at("score"), Direction::undeclared);
    ASSERT_EQ(run.warnings.size(), 1U);
    EXPECT_EQ(run.warnings[0].code, "metric_direction_contradicts");
    EXPECT_THAT(run.warnings[0].message, HasSubstr("score"));
  }
}

TEST(JoinDeclarations, AProgramThatContradictsTheConfigMakesItUndeclared) {
  RunData run = run_with({{{"score", Direction::lower}}});
  run.job.better = {{"score", Direction::higher}};
  join_declarations(run);
  EXPECT_EQ(run.job.better.at("score"), Direction::undeclared);
  EXPECT_EQ(run.warnings.size(), 1U);
}

TEST(JoinDeclarations, AMetricOfTheTableKeepsItsDirection) {
  RunData run = run_with({{{"train_loss", Direction::higher}, {"train_loss", Direction::lower}}});
  join_declarations(run);
  EXPECT_EQ(metric_info(run.job, "train_loss").better, Direction::lower);
  ASSERT_EQ(run.warnings.size(), 1U);
  EXPECT_THAT(run.warnings[0].message, HasSubstr("declares that higher is better for train_loss"));
}

TEST(JoinDeclarations, OfTwoJobsWhatEitherDeclaresHolds) {
  JobFacts job;
  job.better = {{"a", Direction::undeclared}, {"b", Direction::higher}, {"c", Direction::lower}};
  JobFacts other;
  other.better = {{"a", Direction::lower}, {"b", Direction::lower}, {"d", Direction::higher}};
  const auto warnings = join_declarations(job, other);
  EXPECT_THAT(job.better, ElementsAre(Pair("a", Direction::lower), Pair("b", Direction::undeclared),
                                      Pair("c", Direction::lower), Pair("d", Direction::higher)));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0].message, HasSubstr("for b"));
}

}  // namespace
}  // namespace memduel
