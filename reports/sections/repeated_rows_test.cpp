#include "sections/repeated_rows.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>

#include "model/metric_catalogue.h"
#include "test_document.h"

namespace memduel {
namespace {

Comparison row(const std::string& role, double candidate_median) {
  Comparison row;
  row.baseline = "a";
  row.candidate = "b";
  row.role = role;
  row.metric = kPeakRss;
  row.baseline_median = 100;
  row.candidate_median = candidate_median;
  row.ratio = candidate_median / 100;
  return row;
}

Growth growth(const std::string& role, std::optional<double> slope) {
  Growth growth;
  growth.arm = "a";
  growth.role = role;
  growth.metric = kRssGrowthPerRound;
  growth.slope = slope;
  return growth;
}

Results results_of_one_role() {
  Results results;
  results.job.roles = {"command"};
  return results;
}

TEST(RepeatedRows, AreThoseOfTheOnlyRole) {
  Results results = results_of_one_role();
  results.comparisons = {row("command", 50), row(kTree, 50)};
  EXPECT_TRUE(is_repeated(results, results.comparisons[0]));
  EXPECT_FALSE(is_repeated(results, results.comparisons[1]));
}

TEST(RepeatedRows, AreThoseOfAllProcessesIfAGateAsksAboutTheRole) {
  Results results = results_of_one_role();
  results.comparisons = {row("command", 50), row(kTree, 50)};
  results.comparisons[0].gate = true;
  EXPECT_FALSE(is_repeated(results, results.comparisons[0]));
  EXPECT_TRUE(is_repeated(results, results.comparisons[1]));
}

TEST(RepeatedRows, HaveTheSameNumbers) {
  Results results = results_of_one_role();
  results.comparisons = {row("command", 50), row(kTree, 51)};
  EXPECT_FALSE(is_repeated(results, results.comparisons[0]));
  EXPECT_FALSE(is_repeated(results, results.comparisons[1]));
}

TEST(RepeatedRows, OfAJobOfSeveralRolesAreNone) {
  Results results = results_of_one_role();
  results.job.roles.emplace_back("client");
  results.comparisons = {row("command", 50), row(kTree, 50)};
  EXPECT_FALSE(is_repeated(results, results.comparisons[0]));
}

TEST(RepeatedRows, OfGrowthHaveTheSameSlope) {
  Results results = results_of_one_role();
  results.growth = {growth("command", 7), growth(kTree, 7)};
  EXPECT_TRUE(is_repeated(results, results.growth[0]));
  EXPECT_FALSE(is_repeated(results, results.growth[1]));
  results.growth = {growth("command", {}), growth(kTree, {})};
  EXPECT_FALSE(is_repeated(results, results.growth[0])) << "nothing was measured";
}

}  // namespace
}  // namespace memduel
