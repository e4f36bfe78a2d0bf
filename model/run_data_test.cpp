#include "model/run_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <stdexcept>

namespace memduel {
namespace {

std::map<std::string, double> as_map(const Metrics& metrics) {
  std::map<std::string, double> map;
  for (const auto& [name, value] : metrics) map.emplace(name, value);
  return map;
}

TEST(Metrics, DoWhatAMapDoes) {
  std::mt19937 random(7);
  Metrics metrics;
  std::map<std::string, double> map;
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "metric_" + std::to_string(random() % 40);
    const double value = static_cast<double>(random() % 100);
    switch (random() % 4) {
      case 0:
        metrics[name] += value;
        map[name] += value;
        break;
      case 1:
        EXPECT_EQ(metrics.emplace(name, value).second, map.emplace(name, value).second);
        break;
      case 2:
        EXPECT_EQ(metrics.erase(name), map.erase(name));
        break;
      default:
        EXPECT_EQ(metrics.contains(name), map.contains(name));
        EXPECT_EQ(metrics.find(name) == metrics.end(), map.find(name) == map.end());
    }
    ASSERT_EQ(metrics.size(), map.size());
  }
  EXPECT_EQ(as_map(metrics), map);
}

TEST(Metrics, AreReadChangedAndComparedByName) {
  Metrics metrics = {{"b", 2}, {"a", 1}};
  EXPECT_EQ(metrics.at("a"), 1);
  EXPECT_THROW(static_cast<void>(metrics.at("c")), std::out_of_range);
  EXPECT_EQ(metrics.begin()->first, "a");
  for (const auto& [name, value] : metrics) value *= 10;
  EXPECT_EQ(metrics, (Metrics{{"a", 10}, {"b", 20}}));
  EXPECT_NE(metrics, (Metrics{{"a", 10}}));
  EXPECT_NE(metrics, (Metrics{{"a", 10}, {"c", 20}}));
  Metrics more = {{"b", 7}, {"z", 9}};
  more.insert(metrics.begin(), metrics.end());
  EXPECT_EQ(more, (Metrics{{"a", 10}, {"b", 7}, {"z", 9}}));
}

TEST(Metrics, AreAssignedInAnyOrder) {
  Metrics metrics;
  for (const auto& [name, value] : {std::pair("b", 1.0), {"d", 2.0}, {"a", 3.0}, {"d", 4.0}})
    metrics.assign(MetricName(name), value);
  EXPECT_EQ(metrics, (Metrics{{"a", 3}, {"b", 1}, {"d", 4}}));
}

TEST(SharedVector, CopiesShareUntilOneIsChanged) {
  SharedVector<int> one = {1, 2, 3};
  SharedVector<int> other = one;
  EXPECT_EQ(&one.items(), &other.items());
  other.push_back(4);
  EXPECT_EQ(one.items(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(other.items(), (std::vector<int>{1, 2, 3, 4}));
  const int* place = other.items().data();
  other.edit()[0] = 9;
  EXPECT_EQ(other.items().data(), place) << "nobody else has it";
  EXPECT_EQ(one.front(), 1);
}

TEST(SharedVector, ReadsAsAVector) {
  const SharedVector<int> list = std::vector<int>{5, 6};
  EXPECT_EQ(list.size(), 2U);
  EXPECT_EQ(list.at(1), 6);
  EXPECT_EQ(list.back(), 6);
  int sum = 0;
  for (const int item : list) sum += item;
  EXPECT_EQ(sum, 11);
  EXPECT_TRUE(SharedVector<int>().empty());
  SharedVector<int> gone = list;
  gone.clear();
  EXPECT_TRUE(gone.empty());
  EXPECT_EQ(list.size(), 2U);
}

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
