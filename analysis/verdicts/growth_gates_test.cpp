#include "analysis/verdicts/growth_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memduel {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Of a run whose warm-up trials have so many rounds of the server.
RunData warmed_up(std::size_t rounds, const std::string& gate) {
  RunData run;
  run.config = {{"workload", {{"kind", "command"}}}, {"gates", {gate}}};
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

std::string refusal_of(const json& config) {
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
  json config = {{"workload", {{"rounds", 5}}}, {"gates", {kGate}}};
  // 20 % of the rounds are a warm-up: 50 leave the 40 that are needed.
  EXPECT_EQ(
      refusal_of(config),
      "gate 'server.rss_growth_bytes_per_round<=1MiB': found 5 rounds in the config, expected "
      "at least 50: fewer rounds cannot distinguish growth from a warm-up\n  give --set "
      "workload.rounds=50, or remove the gate");
  config["workload"]["rounds"] = 50;
  EXPECT_EQ(refusal_of(config), "");
  config["workload"]["stop_after_round"] = 7;
  EXPECT_THAT(refusal_of(config), HasSubstr("found 7 rounds"));
  EXPECT_THAT(refusal_of(config), HasSubstr("give --set workload.stop_after_round=50, or"));
  config["workload"]["rounds"] = 20;
  EXPECT_THAT(refusal_of(config), HasSubstr("give --set workload.rounds=50 --set "
                                            "workload.stop_after_round=50, or"));
  config["workload"] = json::object();
  EXPECT_EQ(refusal_of(config), "") << "the rounds are not known yet";
}

TEST(GrowthGates, AreRefusedAfterAWarmUpOfTooFewRounds) {
  EXPECT_THAT(refusal_of(warmed_up(49, kGate)), HasSubstr("found 49 rounds in the warm-up trial"));
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
  EXPECT_THAT(refusal_of(warmed_up(5, gate)), HasSubstr("found 5 rounds"));
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
