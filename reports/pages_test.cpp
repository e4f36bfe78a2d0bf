#include "reports/tables/thinned_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/metric_catalogue.h"

namespace memduel {
namespace {

using testing::ElementsAre;

/// Two trials of a role with the same peaks, round after round from 1.
Results run_of(const std::vector<double>& peaks) {
  Results results;
  for (int id = 1; id <= 2; ++id) {
    TrialData trial;
    trial.id = id;
    RoleData role;
    role.role = "server";
    for (std::size_t i = 0; i < peaks.size(); ++i) {
      RoundData round;
      round.round = static_cast<int>(i) + 1;
      round.metrics[std::string(kPeakRss)] = peaks[i];
      role.rounds.push_back(round);
    }
    trial.roles.push_back(role);
    results.trials.push_back(trial);
  }
  return results;
}

std::vector<int> rounds_in(const Results& results, std::size_t trial) {
  std::vector<int> rounds;
  for (const RoundData& round : results.trials[trial].roles[0].rounds)
    rounds.push_back(round.round);
  return rounds;
}

TEST(ThinnedRounds, AreAllWhereTheyFit) {
  Results results = run_of({1, 2, 3});
  EXPECT_EQ(thin_rounds(results, 6), 1);
  EXPECT_THAT(rounds_in(results, 0), ElementsAre(1, 2, 3));
}

TEST(ThinnedRounds, KeepTheLargestOfEachFewTheFirstAndTheLast) {
  // 20 values for 10: one of two rounds is left. Rounds 2 and 3 are neighbours, 4 and 5, and so on.
  Results results = run_of({1, 5, 4, 3, 9, 2, 8, 1, 1, 7});
  EXPECT_EQ(thin_rounds(results, 10), 2);
  EXPECT_THAT(rounds_in(results, 0), ElementsAre(1, 2, 5, 7, 8, 10));
  EXPECT_EQ(rounds_in(results, 0), rounds_in(results, 1)) << "medians by round need both";
}

TEST(ThinnedRounds, OfARunWithoutRoundsAreNone) {
  Results results;
  EXPECT_EQ(thin_rounds(results, 0), 1);
}

}  // namespace
}  // namespace memduel
