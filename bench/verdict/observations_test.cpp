#include <gtest/gtest.h>

#include <cmath>

#include "support/synthetic_run.h"
#include "verdict/comparison.h"

namespace memduel {
namespace {

RoleData role_with_rounds(const std::string& name, const std::vector<double>& end_rss) {
  RoleData role;
  role.role = name;
  for (size_t i = 0; i < end_rss.size(); ++i) {
    RoundData round;
    round.round = static_cast<int>(i) + 1;
    round.begin_ns = static_cast<std::int64_t>(i) * 60'000'000'000;
    round.end_ns = round.begin_ns + 30'000'000'000;
    round.metrics = {{"end_rss_bytes", end_rss[i]}, {"peak_rss_bytes", end_rss[i] + 5}};
    role.rounds.push_back(std::move(round));
  }
  return role;
}

RunData run_with_roles(std::vector<RoleData> roles) {
  RunData run = make_duel("peak_rss_bytes", {1}, {});
  run.trials.front().roles = std::move(roles);
  run.job = server_and_clients(3);
  return run;
}

const Observation& only(const Observations& observations) {
  return observations.arms.front().trials.front();
}

TEST(Observe, TakesTheMaximumAndTheMedianOverClients) {
  RunData run = run_with_roles({{"client-1", {{"peak_rss_bytes", 10}}, {}, {}, {}, {}},
                                {"client-2", {{"peak_rss_bytes", 30}}, {}, {}, {}, {}},
                                {"client-3", {{"peak_rss_bytes", 20}}, {}, {}, {}, {}},
                                {"client-x", {{"peak_rss_bytes", 99}}, {}, {}, {}, {}}});
  const Observations observations = observe(run, {"a"}, 0);
  EXPECT_EQ(only(observations).roles.at("client_max").at("peak_rss_bytes"), 30);
  EXPECT_EQ(only(observations).roles.at("client_median").at("peak_rss_bytes"), 20);
}

TEST(Observe, PeakAboveIdleOfAGroupIsItsPeakMinusItsIdle) {
  const auto client = [](const char* name, double idle, double peak) {
    RoleData role;
    role.role = name;
    role.metrics = {{"idle_rss_bytes", idle},
                    {"peak_rss_bytes", peak},
                    {"peak_rss_above_idle_bytes", peak - idle}};
    return role;
  };
  // The largest peak is not the largest above idle.
  const RunData run = run_with_roles(
      {client("client-1", 50, 100), client("client-2", 5, 90), client("client-3", 40, 70)});
  const auto roles = only(observe(run, {"a"}, 0)).roles;
  const Metrics& largest = roles.at("client_max");
  EXPECT_EQ(largest.at("peak_rss_bytes"), 100);
  EXPECT_EQ(largest.at("idle_rss_bytes"), 50);
  EXPECT_EQ(largest.at("peak_rss_above_idle_bytes"), 50);
  const Metrics& middle = roles.at("client_median");
  EXPECT_EQ(middle.at("peak_rss_bytes"), 90);
  EXPECT_EQ(middle.at("idle_rss_bytes"), 40);
  EXPECT_EQ(middle.at("peak_rss_above_idle_bytes"), 50);
}

TEST(Observe, LeavesOutAClientMetricThatOneClientLacks) {
  RunData run = run_with_roles(
      {{"client-1", {{"peak_rss_bytes", 10}}, {}, {}, {}, {}}, {"client-2", {}, {}, {}, {}, {}}});
  EXPECT_TRUE(only(observe(run, {"a"}, 0)).roles.at("client_max").empty());
}

TEST(Observe, DerivesGrowthPerRoundAndPerMinuteAfterWarmUp) {
  // 1000 in the first two rounds do not count; then 10 more in each round of a minute.
  const RunData run = run_with_roles({role_with_rounds("server", {1000, 1000, 30, 40, 50, 60})});
  const Metrics metrics = only(observe(run, {"a"}, 1)).roles.at("server");
  EXPECT_DOUBLE_EQ(metrics.at("rss_growth_bytes_per_round"), 10);
  EXPECT_DOUBLE_EQ(metrics.at("rss_growth_bytes_per_minute"), 10);
}

TEST(Observe, GivesClientMaxTheGrowthOfTheLargestClientNotTheLargestGrowth) {
  const RunData run = run_with_roles({role_with_rounds("client-1", {9, 9, 90, 90, 90, 90}),
                                      role_with_rounds("client-2", {9, 9, 10, 20, 30, 40})});
  const Observations observations = observe(run, {"a"}, 0);
  EXPECT_DOUBLE_EQ(only(observations).roles.at("client_max").at("rss_growth_bytes_per_round"), 0);
}

TEST(Observe, FillsTrialMetricsFromRounds) {
  const RunData run = run_with_roles({role_with_rounds("server", {10, 40, 20})});
  const Metrics metrics = only(observe(run, {"a"}, 0)).roles.at("server");
  EXPECT_EQ(metrics.at("peak_rss_bytes"), 45);
  EXPECT_EQ(metrics.at("end_rss_bytes"), 20);
}

TEST(Observe, TakesTheMedianOfDurationsAfterWarmUpAndTheSumOfCpuTime) {
  RoleData role = role_with_rounds("server", {1, 1, 1, 1});
  const std::vector<double> seconds = {900, 2, 9, 4};
  for (std::size_t i = 0; i < seconds.size(); ++i)
    for (const char* metric : {"round_seconds", "transfer_seconds", "cpu_seconds"})
      role.rounds.edit()[i].metrics[metric] = seconds[i];
  const Metrics metrics = only(observe(run_with_roles({role}), {"a"}, 1)).roles.at("server");
  EXPECT_EQ(metrics.at("round_seconds"), 4);
  EXPECT_EQ(metrics.at("transfer_seconds"), 4);
  EXPECT_EQ(metrics.at("cpu_seconds"), 915);
}

TEST(Observe, LeavesOutWhatOnlyTheRoundsOfWarmUpHave) {
  RoleData role = role_with_rounds("server", {10, 40, 20});
  for (RoundData& round : role.rounds.edit())
    round.metrics = {{"end_rss_bytes", 20},
                     {"peak_rss_bytes", 45},
                     {"round_seconds", 2},
                     {"minor_faults_count", 3}};
  const auto of_server = [&](int warmup_rounds) {
    return only(observe(run_with_roles({role}), {"a"}, warmup_rounds)).roles.at("server");
  };
  EXPECT_EQ(of_server(2).at("round_seconds"), 2);
  const Metrics metrics = of_server(3);
  EXPECT_FALSE(metrics.contains("round_seconds"));
  EXPECT_FALSE(metrics.contains("end_rss_bytes"));
  EXPECT_EQ(metrics.at("peak_rss_bytes"), 45) << "of all rounds";
  EXPECT_EQ(metrics.at("minor_faults_count"), 9) << "of all rounds";
  role.rounds.edit().resize(1);
  EXPECT_EQ(of_server(3).at("round_seconds"), 2) << "a job of one round has no warm-up";
}

TEST(Observe, TakesNaNAsNotMeasuredAndCountsIt) {
  RunData run = make_duel("peak_rss_bytes", {std::nan("")}, {1});
  const Observations observations = observe(run, {"a", "b"}, 0);
  EXPECT_EQ(observations.not_a_number, 1);
  EXPECT_TRUE(only(observations).roles.at("all").empty());
}

TEST(Observe, LeavesOutWarmUpAndProfileTrialsAndFaultyBlocks) {
  RunData run = make_duel("peak_rss_bytes", {1, 2, 3}, {1, 2, 3});
  run.trials[0].kind = TrialKind::profile;
  run.trials[4].status = TrialStatus::dropped;
  const Observations observations = observe(run, {"a", "b"}, 0);
  EXPECT_EQ(observations.dropped_blocks, 1);
  EXPECT_EQ(observations.arms[0].trials.size(), 1U);
  EXPECT_EQ(observations.arms[1].trials.size(), 2U);
}

}  // namespace
}  // namespace memduel
