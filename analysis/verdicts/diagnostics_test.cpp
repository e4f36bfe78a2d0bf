#include "analysis/verdicts/diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/values/random.h"
#include "analysis/values/test_data.h"
#include "analysis/values/test_synthetic_run.h"
#include "analysis/verdicts/analyse.h"

namespace memduel {
namespace {

std::vector<std::string> codes(const RunData& run) {
  std::vector<std::string> all;
  for (const Note& note : analyse(run, {}).warnings) all.push_back(note.code);
  return all;
}

std::vector<double> noisy(size_t n, double step, unsigned long seed) {
  Random random(seed);
  std::vector<double> values;
  for (size_t i = 0; i < n; ++i) {
    values.push_back(kMiB * (540 + step * static_cast<double>(i) + random.normal()));
  }
  return values;
}

TEST(Diagnostics, SayNothingAboutAQuietRun) {
  EXPECT_THAT(codes(make_duel("peak_rss_bytes", noisy(12, 0, 1), noisy(12, 0, 2))),
              testing::IsEmpty());
}

TEST(Diagnostics, FindDriftOverTheSession) {
  EXPECT_THAT(codes(make_duel("peak_rss_bytes", noisy(12, 3, 1), noisy(12, 3, 2))),
              testing::Contains("drift"));
}

TEST(Diagnostics, FindRunsWithOneMoreArenaAndAdviseToPinThem) {
  std::vector<double> arena = noisy(12, 0, 1);
  for (const size_t i : {2U, 5U, 9U}) arena[i] += 64 * kMiB;
  const Results results = analyse(make_duel("peak_rss_bytes", arena, noisy(12, 0, 2)), {});
  ASSERT_EQ(results.warnings.size(), 1U);
  EXPECT_EQ(results.warnings[0].code, "several_modes");
  EXPECT_THAT(results.warnings[0].message, testing::HasSubstr("25 % near"));
  EXPECT_THAT(results.warnings[0].advice, testing::HasSubstr("MALLOC_ARENA_MAX"));
}

TEST(Diagnostics, FindAFirstTrialThatStandsOut) {
  std::vector<double> cold = noisy(12, 0, 1);
  cold[0] += 50 * kMiB;
  EXPECT_THAT(codes(make_duel("peak_rss_bytes", cold, noisy(12, 0, 2))),
              testing::Contains("first_trial_outlier"));
}

TEST(Diagnostics, AreSilentOfAFirstTrialThatIsCloserThanAnyChangeThatCounts) {
  std::vector<double> cold(12, 540 * kMiB);
  for (std::size_t i = 0; i < cold.size(); ++i) cold[i] += static_cast<double>(i % 3) * 4096;
  cold[0] -= kMiB;  // 1 MiB of 540 is within 1 %
  EXPECT_THAT(codes(make_duel("peak_rss_bytes", cold, noisy(12, 0, 2))),
              testing::Not(testing::Contains("first_trial_outlier")));
  cold[0] -= 9 * kMiB;
  EXPECT_THAT(codes(make_duel("peak_rss_bytes", cold, noisy(12, 0, 2))),
              testing::Contains("first_trial_outlier"));
}

TEST(Diagnostics, MeasureAFirstTrialByTheMarginOfItsOwnArm) {
  // 1 MiB or 1 % of 540 MiB is 1 %; of 11.2 MiB it is 5 %.
  std::vector<double> cold(12, 11.2 * kMiB);
  for (std::size_t i = 0; i < cold.size(); ++i) cold[i] += static_cast<double>(i % 3) * 1024;
  cold[0] = 11.4 * kMiB;
  EXPECT_THAT(codes(make_duel("peak_rss_bytes", noisy(12, 0, 2), cold)),
              testing::Not(testing::Contains("first_trial_outlier")));
  cold[0] = 12 * kMiB;
  EXPECT_THAT(codes(make_duel("peak_rss_bytes", noisy(12, 0, 2), cold)),
              testing::Contains("first_trial_outlier"));
}

TEST(Diagnostics, TellWhatThePlaceAmongNeighboursDoesWhicheverArmItIs) {
  // a b, b a, a b, …: the second of two has 20 MiB of 540 more in each arm.
  std::vector<double> a = noisy(12, 0, 1);
  std::vector<double> b = noisy(12, 0, 2);
  for (std::size_t i = 0; i < a.size(); ++i) (i % 2 == 0 ? b : a)[i] += 20 * kMiB;
  RunData run = make_duel("peak_rss_bytes", a, b);
  for (TrialData& trial : run.trials) {
    const bool first = (trial.arm == "a") == (trial.block % 2 == 1);
    trial.id = 2 * trial.block + (first ? 1 : 2);
    trial.position = trial.block % 2 * 2 + (first ? 0 : 1);
  }
  AnalysisSettings settings;
  settings.design = Design::superblocks;
  std::string told;
  for (const Note& note : analyse(run, settings).warnings)
    if (note.code == "position_effect") told += note.message;
  EXPECT_THAT(told, testing::ContainsRegex("has \\+3\\.[678] % tree\\.peak_rss_bytes"))
      << "20 of 540";
}

TEST(Diagnostics, FindSwappingStealAndLoad) {
  RunData run = make_duel("peak_rss_bytes", noisy(8, 0, 1), noisy(8, 0, 2));
  run.trials[0].roles[0].metrics["swapped_bytes"] = 4096;
  run.environment["cpu_steal_ratio"] = 0.05;
  run.environment["load"] = 3.0;
  run.environment["cores"] = 2;
  const std::vector<std::string> found = codes(run);
  EXPECT_THAT(found, testing::IsSupersetOf({"swapping", "cpu_steal", "other_load"}));
}

TEST(Diagnostics, BelieveWhatIsBusyNowRatherThanTheLoadOfTheLastMinute) {
  RunData run = make_duel("peak_rss_bytes", noisy(8, 0, 1), noisy(8, 0, 2));
  run.environment["load"] = 3.0;
  run.environment["cores"] = 2;
  run.environment["cpu_busy_ratio"] = 0.04;
  EXPECT_THAT(codes(run), testing::Not(testing::Contains("other_load")));
  run.environment["load"] = 0.1;
  run.environment["cpu_busy_ratio"] = 0.6;
  EXPECT_THAT(codes(run), testing::Contains("other_load"));
}

TEST(Diagnostics, TakeTheLoadOfAWatchedJobForItsOwn) {
  RunData run = make_duel("peak_rss_bytes", noisy(8, 0, 1), noisy(8, 0, 2));
  run.environment["load"] = 3.0;
  run.environment["cores"] = 2;
  EXPECT_THAT(codes(run), testing::Contains("other_load"));
  std::erase_if(run.trials, [](const TrialData& trial) { return trial.arm != "a"; });
  run.config["arms"].erase(1);
  EXPECT_THAT(codes(run), testing::Not(testing::Contains("other_load")));
}

TEST(OrderP, IsSmallForATrendAndOneForTooFewValues) {
  std::vector<double> rising;
  for (int i = 0; i < 20; ++i) rising.push_back(i);
  EXPECT_LT(order_p(rising), 0.001);
  EXPECT_EQ(order_p({1, 2, 3}), 1);
  EXPECT_EQ(order_p(std::vector<double>(20, 1.0)), 1);
}

}  // namespace
}  // namespace memduel
