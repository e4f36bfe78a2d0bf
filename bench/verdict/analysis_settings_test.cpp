#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verdict/analyse.h"

namespace memduel {
namespace {

TEST(SettingsFromConfig, TakesRepeatsAsAFixedDesign) {
  const AnalysisSettings settings = settings_from_config(
      document_of_run({{"measure", {{"repeats", 10}, {"warmup_rounds", 1}, {"seed", 7}}},
                       {"gates", {"all.peak_rss_bytes<=+1%"}}}));
  ASSERT_EQ(settings.looks.size(), 1U);
  EXPECT_EQ(settings.looks[0].blocks, 10);
  EXPECT_EQ(settings.looks[0].alpha, 0.05);
  EXPECT_EQ(settings.warmup_rounds, 1);
  EXPECT_EQ(settings.seed, 7U);
  ASSERT_EQ(settings.gates.size(), 1U);
}

TEST(SettingsFromConfig, LooksAdaptivelyWithoutRepeats) {
  EXPECT_EQ(settings_from_config(document_of_run(nullptr)).looks.size(), 4U);
  Document config = document_of_run(
      {{"measure", {{"order", "restricted"}}}, {"variants", {{{"name", "a"}}, {{"name", "b"}}}}});
  EXPECT_EQ(settings_from_config(config).looks.front().blocks, 6);
  config.variants.emplace_back().name = "c";
  EXPECT_EQ(settings_from_config(config).looks.front().blocks, 8) << "two candidates";
}

TEST(PlannedLooks, CountTheGatesOfAllCandidates) {
  RunData run;
  run.config = document_of_run(
      {{"variants",
        {{{"name", "a"}}, {{"name", "b"}}, {{"name", "c"}}, {{"name", "t"}, {"control", true}}}},
       {"measure", {{"order", "superblocks"}}}});
  // Two default gates for three candidates: .01 / 6 is below 2 / 6^3, so that 6 blocks are refused.
  const CheckedLooks looks = planned_looks(run, settings_from_config(run.config));
  ASSERT_EQ(looks.looks.size(), 3U);
  EXPECT_EQ(looks.looks.front().blocks, 8);
}

TEST(TooFewTrials, DoNotCountGrowthWhereTooFewRoundsGiveIt) {
  RunData run;
  run.job = server_and_clients(2);
  run.config = document_of_run(
      {{"workload", {{"rounds", 49}}},
       {"variants", {{{"name", "a"}}, {{"name", "b"}}, {{"name", "c"}}, {{"name", "d"}}}},
       {"measure", {{"repeats", 5}}}});
  // Five blocks reach p = 2 / C(10, 5) = 0.0079: below .05 / 6, above .05 / 9.
  EXPECT_FALSE(planned_trials(run, settings_from_config(run.config)).too_few);
  run.config.workload.job.rounds = 50;
  EXPECT_TRUE(planned_trials(run, settings_from_config(run.config)).too_few);
}

/// Of so many candidates, with the gates.
RunData plan_of(int trials, int candidates, const std::vector<std::string>& gates) {
  RunData run;
  run.config = document_of_run({{"variants", {{{"name", "baseline"}}}},
                                {"gates", gates},
                                {"measure", {{"repeats", trials}, {"order", "superblocks"}}}});
  for (int i = 0; i < candidates; ++i)
    run.config.variants.emplace_back().name = "candidate-" + std::to_string(i);
  return run;
}

int least_of(const RunData& run) {
  return planned_trials(run, settings_from_config(run.config)).least;
}

TEST(LeastDecidingTrials, DependOnTheComparisonsThatShareTheLevel) {
  const std::string rss = "all.peak_rss_bytes<=+1%";
  const std::string server = "server.peak_rss_bytes<=+1%";
  EXPECT_EQ(least_of(plan_of(6, 1, {rss})), 5);
  EXPECT_EQ(least_of(plan_of(6, 1, {rss, server})), 6);
  EXPECT_EQ(least_of(plan_of(6, 2, {rss, server, "client.peak_rss_bytes<=+1%"})), 7);
  EXPECT_EQ(least_of(plan_of(6, 1, {rss, server + ":advisory"})), 5);
}

TEST(LeastDecidingTrials, AreFewerWhereNoRanksDecide) {
  EXPECT_EQ(least_of(plan_of(2, 1, {"all.rss_growth_bytes_per_round<=1MiB"})), 3);
  // A counter of two modes: 2 * 4^-3 = 0.031.
  EXPECT_EQ(least_of(plan_of(2, 1, {"all.peak_heap_bytes<=+1%"})), 3);
  EXPECT_EQ(least_of(plan_of(2, 0, {"all.peak_rss_bytes<=900MiB"})), 5);
  EXPECT_EQ(least_of(plan_of(2, 0, {})), 1) << "default gates compare";
}

TEST(TooFewTrials, NameTheNumberThatWouldDo) {
  const std::vector<std::string> gates = {"all.peak_rss_bytes<=+1%", "server.peak_rss_bytes<=+1%"};
  const auto note_on = [&](int trials) {
    const RunData run = plan_of(trials, 1, gates);
    return planned_trials(run, settings_from_config(run.config)).too_few;
  };
  ASSERT_TRUE(note_on(5));
  EXPECT_EQ(
      note_on(5)->message,
      "5 trials each cannot decide a gate if only its metric changes, however large the "
      "change: 2 comparisons share an error rate of 5%, so at least 6 trials each are needed");
  EXPECT_THAT(note_on(4)->message, testing::StartsWith("4 trials each cannot decide any gate, "));
  EXPECT_EQ(note_on(5)->advice, "rerun with --repeats 6 or more, or with fewer gates");
  EXPECT_FALSE(note_on(6));
  RunData adaptive = plan_of(1, 1, gates);
  adaptive.config.measure.repeats.reset();
  EXPECT_FALSE(planned_trials(adaptive, settings_from_config(adaptive.config)).too_few);
}

TEST(TooFewTrials, SpeakOfMetricsIfNoGateIsNamed) {
  const RunData run = plan_of(3, 1, {});
  const auto note = planned_trials(run, settings_from_config(run.config)).too_few;
  ASSERT_TRUE(note);
  EXPECT_THAT(note->message, testing::Not(testing::HasSubstr("gate")));
  EXPECT_THAT(note->advice, testing::Not(testing::HasSubstr("gate")));
}

TEST(TooFewTrials, DoNotCountADefaultGateThatDecidesNothing) {
  RunData run = plan_of(5, 1, {});
  run.job.default_gates = {{kTree, kPeakHeap}, {kTree, kPeakRssNoFiles}};
  run.config.measure.meters = {"procfs", "heap"};
  const auto note = [&] { return planned_trials(run, settings_from_config(run.config)).too_few; };
  EXPECT_TRUE(note()) << "the gate on RSS needs 6 trials";
  run.config.default_gates = DefaultGatesDecide::in_check;
  EXPECT_FALSE(note());
  run.config.measure.repeats = 2;
  EXPECT_TRUE(note()) << "no metric can be decided";
}

TEST(SettingsFromConfig, RefusesAWrongGateOrNumber) {
  EXPECT_THROW(settings_from_config(document_of_run({{"gates", {"all.peak_rss_bytes<=1"}}})),
               Error);
  EXPECT_THROW(document_of_run({{"measure", {{"repeats", "many"}}}}), Error);
  EXPECT_THROW(document_of_run({{"measure", {{"repeats", -1}}}}), Error);
}

RunData planned(int arms, int gates) {
  RunData run;
  run.config = document_of_run({{"baseline", "v0"},
                                {"measure", {{"order", "restricted"}, {"seed", 1}}},
                                {"variants", nlohmann::json::array()},
                                {"gates", nlohmann::json::array()}});
  for (int arm = 0; arm < arms; ++arm)
    run.config.variants.emplace_back().name = "v" + std::to_string(arm);
  for (int gate = 0; gate < gates; ++gate)
    run.config.gates.push_back("role" + std::to_string(gate) + ".peak_rss_bytes<=+1%");
  return run;
}

int fewest(int arms, int gates) {
  const RunData run = planned(arms, gates);
  return fewest_blocks_that_can_decide(run, settings_from_config(run.config)).value_or(0);
}

// The smallest p is 2 of 48, 170, 238 and 900 orders.
TEST(FewestBlocksThatCanDecide, GrowWithTheGates) {
  EXPECT_EQ(fewest(2, 1), 5);
  EXPECT_EQ(fewest(2, 2), 6);
  EXPECT_EQ(fewest(2, 4), 6);
  EXPECT_EQ(fewest(2, 5), 7);
  EXPECT_EQ(fewest(2, 6), 8);
}

TEST(FewestBlocksThatCanDecide, AreThoseOfTheDrawnOrderWithThreeVariants) {
  EXPECT_GE(fewest(3, 1), 5);
  EXPECT_LE(fewest(3, 1), 7);
  EXPECT_GE(fewest(3, 3), 7);
  EXPECT_LE(fewest(3, 3), 10);
}

TEST(ReachableP, OfFourBlocksDecidesNothing) {
  RunData run = planned(2, 1);
  run.config.measure.repeats = 4;
  const ReachableP reachable = reachable_p(run, settings_from_config(run.config), 4);
  EXPECT_DOUBLE_EQ(reachable.smallest_p, 2.0 / 32);
  EXPECT_FALSE(reachable.can_decide());
}

using nlohmann::json;
using testing::HasSubstr;

/// Of a run whose warm-up trials have so many rounds of the server.
RunData warmed_up(std::size_t rounds, const std::string& gate) {
  RunData run;
  run.config = document_of_run({{"workload", {{"kind", "command"}}}, {"gates", {gate}}});
  RoleData server;
  server.role = "server";
  for (std::size_t round = 0; round < rounds; ++round) {
    server.rounds.push_back({static_cast<int>(round) + 1, 0, 0, {}, {}});
    server.rounds.edit().back().metrics["end_rss_bytes"] = 1 << 20;
  }
  TrialData trial;
  trial.kind = TrialKind::warmup;
  trial.status = TrialStatus::ok;
  trial.roles = {server};
  run.trials = {trial};
  return run;
}

std::string refusal_of(const RunData& run) {
  try {
    refuse_growth_in_few_rounds(run, settings_from_config(run.config));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "";
}

std::string refusal_of(const Document& config) {
  try {
    refuse_growth_in_few_rounds(config, settings_from_config(config));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "";
}

constexpr const char* kGate = "server.rss_growth_bytes_per_round<=1MiB";

TEST(GrowthGates, AreRefusedWhereTheConfigPlansTooFewRounds) {
  Document config = document_of_run({{"workload", {{"rounds", 5}}}, {"gates", {kGate}}});
  // 20% of the rounds are a warm-up: 50 leave the 40 that are needed.
  EXPECT_EQ(
      refusal_of(config),
      "gate 'server.rss_growth_bytes_per_round<=1MiB': expected at least 50 rounds, found 5 in the "
      "config: fewer rounds cannot distinguish growth from a warm-up\n  set --set "
      "workload.rounds=50, or remove the gate");
  config.workload.job.rounds = 50;
  EXPECT_EQ(refusal_of(config), "");
  config.workload.job.stop_after_round = 7;
  EXPECT_THAT(refusal_of(config), HasSubstr("found 7 in the config"));
  EXPECT_THAT(refusal_of(config), HasSubstr("set --set workload.stop_after_round=50, or"));
  config.workload.job.rounds = 20;
  EXPECT_THAT(refusal_of(config), HasSubstr("set --set workload.rounds=50 --set "
                                            "workload.stop_after_round=50, or"));
  config.workload = {};
  EXPECT_EQ(refusal_of(config), "") << "the rounds are not known yet";
}

TEST(GrowthGates, AreRefusedAfterAWarmUpOfTooFewRounds) {
  EXPECT_THAT(refusal_of(warmed_up(49, kGate)), HasSubstr("found 49 in the warm-up trial"));
  EXPECT_THAT(refusal_of(warmed_up(0, kGate)), HasSubstr("let the job run 50 rounds"));
  EXPECT_EQ(refusal_of(warmed_up(50, kGate)), "");
  EXPECT_THAT(refusal_of(warmed_up(5, "*.rss_growth_bytes_per_round<=1MiB")), HasSubstr("'*."));
}

// A program that logs where rounds begin: of its last one nobody reads the end.
TEST(GrowthGates, CountRoundsWhoseEndIsKnown) {
  RunData run = warmed_up(50, kGate);
  run.trials.front().roles.front().rounds.edit().back().metrics.erase("end_rss_bytes");
  EXPECT_THAT(refusal_of(run), HasSubstr("let the job run 51 rounds"));
}

TEST(GrowthGates, PerMinuteAreOfRoundsWhereThereAreSome) {
  const char* gate = "server.rss_growth_bytes_per_minute<=1MiB";
  EXPECT_THAT(refusal_of(warmed_up(5, gate)), HasSubstr("found 5 in"));
  EXPECT_EQ(refusal_of(warmed_up(4, gate)), "") << "two after the warm-up are no line";
  EXPECT_EQ(refusal_of(warmed_up(1, gate)), "");
}

TEST(GrowthGates, AreLeftToTheResultsWhereTheyDecideNothingOrNeedNoRounds) {
  EXPECT_EQ(refusal_of(warmed_up(5, std::string(kGate) + ":advisory")), "");
  EXPECT_EQ(refusal_of(warmed_up(5, "client.rss_growth_bytes_per_round<=1MiB")), "")
      << "no such role has run";
  EXPECT_EQ(refusal_of(warmed_up(5, "server.peak_rss_bytes<=1MiB")), "");
}

}  // namespace
}  // namespace memduel
