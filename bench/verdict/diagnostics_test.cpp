#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis_steps.h"
#include "stats/samples.h"
#include "support/synthetic_run.h"
#include "support/test_data.h"
#include "verdict/analyse.h"

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
  EXPECT_THAT(
      results.warnings[0].message,
      testing::HasSubstr("has 2 clusters (of 12 trials, 9 near 540.2 MiB, 3 near 604.1 MiB)"));
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
  cold[0] -= kMiB;  // 1 MiB of 540 is within 1%
  EXPECT_THAT(codes(make_duel("peak_rss_bytes", cold, noisy(12, 0, 2))),
              testing::Not(testing::Contains("first_trial_outlier")));
  cold[0] -= 9 * kMiB;
  EXPECT_THAT(codes(make_duel("peak_rss_bytes", cold, noisy(12, 0, 2))),
              testing::Contains("first_trial_outlier"));
}

TEST(Diagnostics, MeasureAFirstTrialByTheMarginOfItsOwnArm) {
  // 1 MiB or 1% of 540 MiB is 1%; of 11.2 MiB it is 5%.
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
  RunData run =
      in_restricted_order(make_duel("peak_rss_bytes", noisy(12, 0, 1), noisy(12, 0, 2)), 12);
  for (TrialData& trial : run.trials)
    if (trial.position % 2 == 1) trial.roles.front().metrics["peak_rss_bytes"] += 20 * kMiB;
  const Results results = analyse(run, settings_from_config(run.config));
  std::string told;
  for (const Note& note : results.warnings)
    if (note.code == "position_effect") told += note.message;
  EXPECT_THAT(told, testing::ContainsRegex("has \\+3\\.[678]% peak RSS")) << "20 of 540";
  const Comparison& row = results.comparisons.front();
  ASSERT_TRUE(row.removed_place);
  EXPECT_NEAR(row.removed_place->effect, 1 + 20.0 / 540, 0.002);
  EXPECT_NEAR(row.removed_place->estimate, 1, 0.002);
  EXPECT_THAT(row.reason, testing::ContainsRegex(
                              "a position effect of \\+3\\.[678]% was removed; without it the "
                              "estimate is [-+]?0\\.[01][0-9]*%"));
  EXPECT_EQ(results.order, "restricted");
}

// The size that has to reach the margin is the one that the interval is of: without the effect of
// the places. Which variant runs second more often moves the estimate of the values as they are.
TEST(Diagnostics, APlaceHidesNoChangeBeyondTheMargin) {
  int below_as_they_are = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::vector<double> more = noisy(8, 0, 2);
    for (double& value : more) value += 6 * kMiB;
    RunData run = in_restricted_order(make_duel("peak_rss_bytes", noisy(8, 0, 1), more), 8, seed);
    for (TrialData& trial : run.trials)
      if (trial.position % 2 == 1) trial.roles.front().metrics["peak_rss_bytes"] += 20 * kMiB;
    const Results results = analyse(run, settings_from_config(run.config));
    const Comparison& row = results.comparisons.front();
    if (!row.removed_place) continue;
    EXPECT_NEAR(row.removed_place->estimate, 1 + 6.0 / 540, 0.003);
    EXPECT_EQ(row.verdict, Verdict::regressed) << row.reason;
    if (*row.ratio < 1.01) ++below_as_they_are;
  }
  EXPECT_GT(below_as_they_are, 0);
}

TEST(Diagnostics, TellWhereTheLargestTrialGoesTheOtherWay) {
  std::vector<double> less = noisy(8, 0, 2);
  for (double& value : less) value -= 50 * kMiB;
  const std::vector<double> a = noisy(8, 0, 1);
  EXPECT_THAT(codes(make_duel("peak_rss_bytes", a, less)),
              testing::Not(testing::Contains("tail_differs")));
  less[4] += 80 * kMiB;
  EXPECT_THAT(codes(make_duel("peak_rss_bytes", a, less)), testing::Contains("tail_differs"));
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
  run.config.variants.pop_back();
  EXPECT_THAT(codes(run), testing::Not(testing::Contains("other_load")));
}

TEST(OrderP, IsSmallForATrendAndOneForTooFewValues) {
  std::vector<double> rising;
  for (int i = 0; i < 20; ++i) rising.push_back(i);
  EXPECT_LT(order_p(rising), 0.001);
  EXPECT_EQ(order_p({1, 2, 3}), 1);
  EXPECT_EQ(order_p(std::vector<double>(20, 1.0)), 1);
}

TrialData traced_or_not(const std::string& arm, TrialKind kind, std::int64_t ns, double peak,
                        const std::string& tracer = {}) {
  TrialData trial;
  trial.arm = arm;
  trial.kind = kind;
  trial.tracer = tracer;
  trial.end_ns = ns;
  trial.roles = {{"all", {{"peak_rss_bytes", peak}}, {}, {}, {}, {}}};
  return trial;
}

TEST(Perturbation, IsTheRatioOfMediansPerTracerAndArm) {
  RunData run;
  run.config = document_of_run({{"variants", {{{"name", "a"}}, {{"name", "b"}}}}});
  for (const std::int64_t ns : {1000, 2000, 9000})
    run.trials.push_back(traced_or_not("a", TrialKind::measure, ns, 100));
  run.trials.push_back(traced_or_not("a", TrialKind::warmup, 1, 1));
  run.trials.push_back(traced_or_not("a", TrialKind::profile, 3000, 130, "recorder"));
  run.trials.push_back(traced_or_not("b", TrialKind::measure, 1000, 100));
  const auto found = perturbations(run);
  ASSERT_EQ(found.size(), 1U) << "b was never traced";
  EXPECT_EQ(found[0].arm, "a");
  EXPECT_EQ(found[0].tracer, "recorder");
  EXPECT_DOUBLE_EQ(*found[0].wall_ratio, 1.5);
  EXPECT_DOUBLE_EQ(*found[0].peak_rss_ratio, 1.3);
  run.trials.push_back(traced_or_not("b", TrialKind::profile, 40'000, 300, "heaptrack"));
  run.trials.push_back(traced_or_not("a", TrialKind::profile, 80'000, 200, "heaptrack"));
  const auto both = perturbations(run);
  ASSERT_EQ(both.size(), 3U);
  EXPECT_DOUBLE_EQ(*both[0].wall_ratio, 1.5) << "what heaptrack costs is not the recorder's";
  EXPECT_EQ(both[1].arm, "a");
  EXPECT_EQ(both[1].tracer, "heaptrack");
  EXPECT_DOUBLE_EQ(*both[1].wall_ratio, 40);
  EXPECT_DOUBLE_EQ(*both[2].peak_rss_ratio, 3);
}

}  // namespace
}  // namespace memduel
