#include "experiment/run/memory_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memduel {
namespace {

TrialData trial_with_gauges(const std::string& gauge, const std::vector<int>& rounds) {
  TrialData trial;
  trial.id = 4;
  trial.arm = "optimized";
  RoleData role;
  role.role = "simulator";
  role.metrics = {{gauge, 0.7}, {"peak_rss_bytes", 1}};
  for (int round = 1; round <= 20; ++round) {
    role.rounds.push_back({round, 0, 0, {}, {}});
    if (std::ranges::find(rounds, round) != rounds.end())
      role.rounds.edit().back().metrics[gauge] = 0.9 - 0.01 * round;
  }
  trial.roles.push_back(role);
  return trial;
}

TEST(MemoryWarnings, NameTrialArmRoleRoundsAndTheMost) {
  TrialData trial = trial_with_gauges("memory_critical_ratio", {3, 7});
  const std::vector<Note> notes = take_memory_warnings(trial);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].code, "memory_critical");
  EXPECT_EQ(notes[0].message,
            "trial 4, arm optimized: memory was critically short for simulator in rounds 3, 7: at "
            "most 87.0 % used");
}

TEST(MemoryWarnings, ListTenRoundsAndCountTheRest) {
  TrialData trial =
      trial_with_gauges("memory_warning_ratio", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_THAT(take_memory_warnings(trial)[0].message,
              testing::HasSubstr("in rounds 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more"));
}

TEST(MemoryWarnings, AreNoMetricOfTheTrial) {
  TrialData trial = trial_with_gauges("memory_warning_ratio", {5});
  take_memory_warnings(trial);
  EXPECT_FALSE(trial.roles[0].metrics.contains("memory_warning_ratio"));
  EXPECT_TRUE(trial.roles[0].metrics.contains("peak_rss_bytes"));
  EXPECT_TRUE(trial.roles[0].rounds[4].metrics.contains("memory_warning_ratio"));
  TrialData calm = trial_with_gauges("memory_warning_ratio", {});
  EXPECT_TRUE(take_memory_warnings(calm).empty());
}

}  // namespace
}  // namespace memduel
