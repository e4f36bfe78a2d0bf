#include <gtest/gtest.h>

#include <cmath>

#include "support/synthetic_run.h"
#include "util/bytes.h"
#include "verdict/analyse.h"
#include "verdict/comparison.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

const TrialSlopes kOfBaseline{{317.2, 317.6, 224.0, 234.6, 312.6, 317.0}, 0};
const TrialSlopes kOfCandidate{{528.7, 508.4, 447.6, 545.3, 519.5, 602.2}, 0};

GrowthEstimate estimate_of(std::vector<double> slopes, double matters, GrowthVerdict verdict) {
  GrowthEstimate estimate;
  estimate.trials.values = std::move(slopes);
  estimate.slope = estimate.trials.mean();
  estimate.interval = estimate.trials.interval(0.05);
  estimate.matters = matters;
  estimate.verdict = verdict;
  return estimate;
}

/// A row of growth whose values alone would have a rank test.
DecidedRow row_of(const GrowthEstimate& baseline, const GrowthEstimate& candidate,
                  std::optional<double> noise_floor = std::nullopt) {
  RowValues values;
  values.baseline = baseline.trials.values;
  values.candidate = candidate.trials.values;
  MeasuredRow row = measure_row({metric_info(kRssGrowthPerRound), Design::unpaired, noise_floor},
                                std::move(values), growth_difference(baseline, candidate));
  const RowLevel level{0.05, 1, row.p_value};
  return decide(std::move(row), level);
}

TEST(GrowthDifference, IsWelchsTestOfTheTrialsSlopes) {
  const SlopeDifference difference = slope_difference(kOfBaseline, kOfCandidate);
  EXPECT_NEAR(difference.value, 238.116667, 1e-6);
  EXPECT_NEAR(difference.error, 27.56813, 1e-5);
  EXPECT_NEAR(difference.freedom, 9.875178, 1e-5);
  EXPECT_NEAR(difference.p_value(), 6.5027e-06, 1e-9);
  EXPECT_NEAR(difference.interval(0.05).low, 176.5856, 1e-3);
  EXPECT_NEAR(difference.interval(0.05).high, 299.6477, 1e-3);
}

TEST(GrowthDifference, PAndIntervalNeverDisagree) {
  for (const double apart : {0.0, 1.0, 2.0, 3.0, 40.0, 60.0}) {
    for (const double resolution : {0.0, 1.5, 30.0}) {
      TrialSlopes candidate = kOfBaseline;
      for (double& slope : candidate.values) slope += apart;
      candidate.resolution = resolution;
      const SlopeDifference difference = slope_difference(kOfBaseline, candidate);
      EXPECT_EQ(difference.p_value() <= 0.05, !difference.interval(0.05).contains(0))
          << apart << " " << resolution;
    }
  }
}

TEST(GrowthDifference, TrialsThatAgreeStillLeaveWhatReadingsCannotTellApart) {
  const SlopeDifference difference = slope_difference({{10, 10, 10}, 2}, {{14, 14, 14}, 2});
  EXPECT_EQ(difference.interval(0.05).low, 0);
  EXPECT_EQ(difference.interval(0.05).high, 8);
  EXPECT_EQ(difference.p_value(), 1);
}

TEST(GrowthDifference, TwoTrialsOfAVariantDecideNothing) {
  const SlopeDifference difference = slope_difference(kOfBaseline, {{1, 2}, 0});
  EXPECT_EQ(difference.p_value(), 1);
  EXPECT_TRUE(std::isinf(difference.interval(0.05).high));
}

TEST(GrowthDifference, TakesTheNameOfItsMethodToo) {
  const DecidedRow row = row_of(estimate_of({1 * kMiB, 1.1 * kMiB, 1.2 * kMiB, 1 * kMiB, 1 * kMiB},
                                            64, GrowthVerdict::growing),
                                estimate_of({3 * kMiB, 3.1 * kMiB, 3.2 * kMiB, 3 * kMiB, 3 * kMiB},
                                            64, GrowthVerdict::growing));
  EXPECT_EQ(row.comparison.test, kWelch);
  EXPECT_FALSE(row.comparison.exact);
  EXPECT_NEAR(*row.comparison.difference, 2 * kMiB, 1);
  EXPECT_EQ(row.comparison.verdict, Verdict::regressed);
}

TEST(GrowthDifference, BelowItsMarginOrNoiseFloorIsNoChange) {
  const auto baseline = estimate_of({10, 11, 12, 10, 11}, 64, GrowthVerdict::flat);
  const auto candidate = estimate_of({40, 41, 42, 41, 40}, 64, GrowthVerdict::growing);
  EXPECT_EQ(row_of(baseline, candidate).comparison.verdict, Verdict::inconclusive);
  const auto more = estimate_of({140, 141, 142, 141, 140}, 64, GrowthVerdict::growing);
  EXPECT_EQ(row_of(baseline, more).comparison.verdict, Verdict::regressed);
  EXPECT_EQ(row_of(baseline, more, 200).comparison.verdict, Verdict::inconclusive);
}

TEST(GrowthDifference, UnchangedIsShownByTheIntervalThatIsPrinted) {
  const auto alike = estimate_of({10, 11, 12, 10, 11}, 64, GrowthVerdict::flat);
  const DecidedRow unchanged = row_of(alike, alike);
  EXPECT_EQ(unchanged.comparison.verdict, Verdict::unchanged);
  EXPECT_EQ(unchanged.comparison.confidence, 0.9);
  EXPECT_LE(*unchanged.comparison.ci_high, 64);
  // Bounded both, but so much apart that the interval leaves the margin.
  const auto spread = estimate_of({10, 200, -150, 90, 11}, 64, GrowthVerdict::flat);
  EXPECT_EQ(row_of(alike, spread).comparison.verdict, Verdict::inconclusive);
}

/// Trials of arm a whose role tree holds `slope_mib` more after each of `rounds` rounds.
RunData run_with(TrialStatus status, int rounds, double slope_mib) {
  RunData run = make_duel("peak_rss_bytes", {1, 1, 1, 1, 1, 1}, {});
  for (TrialData& trial : run.trials) {
    trial.status = status;
    for (int round = 1; round <= rounds; ++round) {
      const double end = kMiB * (100 + slope_mib * round + (round % 2) * 0.01 * trial.block);
      trial.roles[0].rounds.push_back({round,
                                       round * 1'000'000'000L,
                                       (round + 1) * 1'000'000'000L,
                                       {{"end_rss_bytes", end}},
                                       {}});
    }
  }
  return run;
}

std::vector<Growth> rows_of(const RunData& run, const AnalysisSettings& settings = {}) {
  std::vector<Growth> rows;
  for (const GrowthRow& row : growth_rows(run, observe(run, {"a"}, 0), {"all"}, settings, 0.05))
    rows.push_back(row.row);
  return rows;
}

TEST(GrowthRows, RoundsBeforeAKillForMemoryCount) {
  const auto rows = rows_of(run_with(TrialStatus::killed_for_memory, 60, 30));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].metric, "rss_growth_bytes_per_round");
  EXPECT_EQ(rows[0].verdict, GrowthVerdict::growing);
  EXPECT_NEAR(rows[0].slope.value_or(0), 30 * kMiB, 0.1 * kMiB);
}

TEST(GrowthRows, SayInWhichRoundAndMinuteTheLimitIsMet) {
  const RunData run = run_with(TrialStatus::ok, 60, 30);
  AnalysisSettings settings;
  settings.memory_limit_bytes = (100 + 30 * 300) * kMiB;
  const auto rows = rows_of(run, settings);
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_TRUE(rows[0].projection && rows[1].projection);
  EXPECT_NEAR(*rows[0].projection->round, 300, 1);
  EXPECT_NEAR(*rows[0].projection->minute, 5, 0.05) << "a round a second";
  EXPECT_FALSE(rows[1].projection->round);
  EXPECT_NEAR(*rows[1].projection->minute, 5, 0.05);
  EXPECT_NEAR(*rows[1].projection->ci_low, 5, 0.2);
}

TEST(GrowthRows, ListTheSlopeOfEveryTrialAtItsOwnPace) {
  RunData run = run_with(TrialStatus::ok, 60, 30);
  for (TrialData& trial : run.trials)
    for (RoundData& round : trial.roles[0].rounds.edit())
      if (trial.block == 3) round.end_ns *= 2;  // its rounds take two seconds, not one
  const auto rows = rows_of(run);
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_EQ(rows[1].trial_slopes.size(), 6U);
  for (const TrialSlope& trial : rows[1].trial_slopes) {
    const double minutes = (trial.block == 3 ? 2 : 1) / 60.0;
    EXPECT_NEAR(trial.slope, 30 * kMiB / minutes, 0.01 * 30 * kMiB / minutes) << trial.block;
  }
  EXPECT_NEAR(*rows[1].slope, 1800 * kMiB * 5.5 / 6, 10 * kMiB);
  EXPECT_LT(*rows[1].ci_low, 1500 * kMiB) << "the pace varies";
  EXPECT_GT(*rows[0].ci_low, 29.9 * kMiB) << "the rounds do not";
  EXPECT_EQ(rows[1].method, kStudent);
}

TEST(GrowthRows, OfSeriesThatFallBackHaveTheSlopesOfTheTrialsThatDo) {
  RunData run = run_with(TrialStatus::ok, 60, 2);
  for (TrialData& trial : run.trials)
    for (RoundData& round : trial.roles[0].rounds.edit())
      if (trial.block > 2 && round.round > 20 + 5 * trial.block)
        round.metrics["end_rss_bytes"] = kMiB * (60 + 2.0 * round.round);
  std::vector<int> blocks;
  const std::vector<Growth> rows = rows_of(run);
  for (const TrialSlope& trial : rows.at(0).trial_slopes) blocks.push_back(trial.block);
  EXPECT_EQ(blocks, std::vector<int>({3, 4, 5, 6}));
}

TEST(GrowthRows, PagesOfFilesAloneAreNoGrowth) {
  const auto with_file_pages = [](double slope_mib, double of_files) {
    RunData run = run_with(TrialStatus::ok, 60, slope_mib);
    for (TrialData& trial : run.trials)
      for (RoundData& round : trial.roles[0].rounds.edit())
        round.metrics["peak_rss_file_bytes"] = kMiB * (20 + of_files * round.round);
    return rows_of(run);
  };
  const auto mapped = with_file_pages(2, 2);
  EXPECT_TRUE(is_bounded(mapped[0].verdict)) << mapped[0].reason;
  EXPECT_NEAR(mapped[0].slope.value_or(0), 2 * kMiB, 0.1 * kMiB) << "of the resident set";
  EXPECT_FALSE(mapped[0].projection) << "no limit is met by what the kernel takes back";
  EXPECT_EQ(with_file_pages(2, 0)[0].verdict, GrowthVerdict::growing);
  EXPECT_EQ(with_file_pages(2, 1)[0].verdict, GrowthVerdict::growing);
}

TEST(GrowthRows, RoundsOfATrialThatFailedOtherwiseDoNot) {
  EXPECT_TRUE(rows_of(run_with(TrialStatus::failed, 15, 30)).empty());
  EXPECT_TRUE(rows_of(run_with(TrialStatus::killed_for_memory, 4, 30)).empty()) << "too few rounds";
}

}  // namespace
}  // namespace memduel
