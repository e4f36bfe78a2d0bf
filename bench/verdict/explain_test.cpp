#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/metric_catalogue.h"
#include "support/synthetic_run.h"
#include "verdict/analyse.h"
#include "verdict/questions.h"

namespace memduel {
namespace {

using testing::HasSubstr;

Results results() {
  return analyse(
      make_duel("peak_rss_bytes", {200e6, 201e6, 199e6, 202e6, 198e6, 200e6, 201e6, 199e6},
                {100e6, 101e6, 99e6, 102e6, 98e6, 100e6, 101e6, 99e6}),
      {});
}

TEST(Explain, TellsVerdictValuesEffectTestAndTail) {
  const std::string text = explain(results(), "all.peak_rss_bytes");
  EXPECT_EQ(explain(results(), "peak_rss"), text);
  EXPECT_THAT(text, HasSubstr("b vs. a (baseline)"));
  EXPECT_THAT(text, HasSubstr("Verdict: improved, strong"));
  EXPECT_THAT(text, HasSubstr("-50.0%"));
  EXPECT_THAT(text, HasSubstr("all 64 differences"));
  EXPECT_THAT(text, HasSubstr("p = 0.0078"));
  EXPECT_THAT(text, HasSubstr("fewer than 31%"));
  EXPECT_THAT(text, HasSubstr("Gate all.peak_rss_bytes<=margin: passed"));
}

TEST(Explain, TellsTheValuesOfAGroupsLargest) {
  Results all = results();
  all.job.groups = {{"client", 1}};
  for (TrialData& trial : all.trials)
    for (RoleData& role : trial.roles) role.role = "client-1";
  for (Comparison& row : all.comparisons) row.role = "client_max";
  EXPECT_THAT(explain(all, "client_max.peak_rss_bytes"),
              HasSubstr("a: median 190.7 MiB; in trial order: 190.7 MiB, 191.7 MiB"));
}

TEST(Explain, TellsTheValuesThatTheMedianIsOf) {
  RunData run = make_duel("peak_rss_bytes", {1e6, 1e6, 1e6, 1e6, 1e6}, {1e6, 1e6, 1e6, 1e6, 1e6});
  for (TrialData& trial : run.trials)
    for (RoleData& role : trial.roles)
      for (const double seconds : {0.9, 0.2, 0.3, 0.4}) {
        RoundData round;
        round.round = static_cast<int>(role.rounds.size()) + 1;
        round.metrics[kRoundSeconds] = seconds;
        role.rounds.push_back(round);
      }
  AnalysisSettings settings;
  settings.warmup_rounds = 1;
  EXPECT_THAT(explain(analyse(run, settings), "all.round_seconds"),
              HasSubstr("a: median 300.0 ms; in trial order: 300.0 ms, 300.0 ms"))
      << "the first round is not counted";
}

TEST(Explain, TellsTheSlopesByWhichGrowthWasDecided) {
  RunData run =
      make_duel("peak_rss_bytes", {1e6, 1e6, 1e6, 1e6, 1e6, 1e6}, {1e6, 1e6, 1e6, 1e6, 1e6, 1e6});
  for (TrialData& trial : run.trials)
    for (int round = 1; round <= 60; ++round) {
      const double mib = 200 + round * (trial.arm == "b" ? 2 + 0.25 * (trial.block % 2) : 1);
      trial.roles[0].rounds.push_back({round,
                                       round * 1'000'000'000L,
                                       (round + 1) * 1'000'000'000L,
                                       {{"end_rss_bytes", mib * 1048576}},
                                       {}});
    }
  const std::string text = explain(analyse(run, {}), "all.rss_growth_bytes_per_round");
  EXPECT_THAT(text, HasSubstr("b: mean slope 2.12 MiB/round ("));
  EXPECT_THAT(text, HasSubstr("the slope of each trial, in trial order: 2.25 MiB/round, "
                              "2.00 MiB/round, 2.25 MiB/round, 2.00 MiB/round"));
  EXPECT_THAT(text, HasSubstr("+1.12 MiB/round is the mean slope of b minus the mean slope of a."));
  EXPECT_THAT(text, HasSubstr("Welch's t test, one slope per trial"));
  EXPECT_THAT(text, testing::Not(HasSubstr("assignments")));
  EXPECT_THAT(text, testing::Not(HasSubstr("median")));
  EXPECT_THAT(text, testing::Not(HasSubstr("Hodges-Lehmann")));
}

TEST(Explain, TellsWhatIsComparedWithNothing) {
  RunData run = make_duel("peak_rss_bytes", {200e6}, {});
  run.config.variants.resize(1);
  run.config.variants[0].name = "a";
  run.environment["watched"] = nlohmann::json::array();
  AnalysisSettings settings;
  name_gates(settings, {"all.peak_rss_bytes<=100MiB"});
  const Results alone = analyse(run, settings);
  EXPECT_THAT(explain(alone, "all.peak_rss_bytes"),
              testing::AllOf(HasSubstr("a only, not compared"),
                             HasSubstr("Gate all.peak_rss_bytes<=100MiB: failed"),
                             HasSubstr("1 trial, in trial order: 190.7 MiB\n")));
  EXPECT_EQ(worst_row(alone), "all.peak_rss_bytes");
}

TEST(Explain, NamesTheNearestRow) {
  try {
    explain(results(), "all.peak_rss_byte");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.message(), HasSubstr("did you mean \"all.peak_rss_bytes\"?"));
  }
}

TEST(Explain, TheWorstRowIsTheGatesThatGotWorse) {
  Results all = results();
  all.comparisons.clear();
  const auto add = [&](const std::string& metric, bool gate, Verdict verdict, double ratio) {
    Comparison row;
    row.role = "server";
    row.metric = metric;
    row.gate = gate;
    row.verdict = verdict;
    row.ratio = ratio;
    row.margin = 0.01;
    all.comparisons.push_back(row);
  };
  add("end_rss_bytes", false, Verdict::regressed, 3);
  EXPECT_THROW(worst_row(all), Error) << "none is asked about";
  add("peak_pss_bytes", true, Verdict::improved, 0.5);
  EXPECT_EQ(worst_row(all), "server.peak_pss_bytes");
  add("cpu_seconds", true, Verdict::inconclusive, 1.5);
  add("peak_rss_bytes", true, Verdict::regressed, 1.1);
  add("peak_heap_bytes", true, Verdict::regressed, 1.2);
  EXPECT_EQ(worst_row(all), "server.peak_heap_bytes");
}

}  // namespace
}  // namespace memduel
