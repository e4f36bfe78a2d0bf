// Numbers of real processes whose memory is known in closed form.
#include <fstream>

#include "trial_fixture.h"

namespace memduel {
namespace {

/// A process that touches 32 MiB in phase load and frees them, then touches 16 in phase train.
/// Faults are counted from outside, a moment after the mark of a round's begin or end, which gets
/// its time.
std::vector<std::string> two_phases(int round) {
  const std::string n = std::to_string(round);
  return {"round", n,      "sleep", "100",   "phase", "load",  "touch",
          "32",    "free", "phase", "train", "touch", "16",    "nophase",
          "gauge", "loss", "0.5",   "end",   n,       "sleep", "100"};
}

TEST_F(TrialTest, PeaksOfRoundsAndPhasesAreThoseOfTheTouchedMemory) {
  std::vector<std::string> words = {"touch", "64", "free", "idle"};
  for (int round = 1; round <= 2; ++round) {
    const auto more = two_phases(round);
    words.insert(words.end(), more.begin(), more.end());
  }
  const TrialRun result = run({act("server", words)});
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  const RoleData& server = role_of(result, "server");
  const double idle = server.metrics.at("idle_rss_bytes");
  ASSERT_EQ(server.rounds.size(), 2U);

  const RoundData& first = server.rounds[0];
  ASSERT_EQ(first.phases.size(), 2U);
  EXPECT_EQ(first.phases[0].phase, "load");
  EXPECT_NEAR(first.phases[0].metrics.at("peak_rss_bytes"), idle + 32 * kMib, kMib);
  EXPECT_EQ(first.phases[1].phase, "train");
  EXPECT_NEAR(first.phases[1].metrics.at("peak_rss_bytes"), idle + 16 * kMib, kMib);
  EXPECT_NEAR(first.metrics.at("peak_rss_bytes"), idle + 32 * kMib, kMib);
  EXPECT_NEAR(first.metrics.at("end_rss_bytes"), idle + 16 * kMib, kMib);
  EXPECT_EQ(first.metrics.at("loss"), 0.5);
  EXPECT_GE(first.metrics.at("minor_faults_count"), 48 * 256);
  EXPECT_LE(first.metrics.at("minor_faults_count"), 1.05 * 48 * 256);

  // The first round's 16 MiB are still there in the second.
  EXPECT_NEAR(server.rounds[1].metrics.at("peak_rss_bytes"), idle + 48 * kMib, kMib);
  EXPECT_NEAR(server.metrics.at("peak_rss_bytes"), idle + 64 * kMib, kMib);
  EXPECT_EQ(server.metrics.at("peak_rss_above_idle_bytes"),
            server.metrics.at("peak_rss_bytes") - idle)
      << "also where the peak is before the first round";
  EXPECT_NEAR(server.metrics.at("end_rss_bytes"), idle + 32 * kMib, kMib);
  EXPECT_NEAR(server.metrics.at("peak_rss_anon_bytes"), 32 * kMib, kMib);
}

TEST_F(TrialTest, AProcessWithoutMarksIsOneRoundWhosePeakIsTheKernels) {
  const TrialRun result = run({act("command", {"touch", "40", "burn", "60"})});
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  const RoleData& command = role_of(result, "command");
  ASSERT_EQ(command.rounds.size(), 1U);
  // Pages of the program itself: less than 4 MiB.
  EXPECT_GE(command.metrics.at("peak_rss_bytes"), 40 * kMib);
  EXPECT_LE(command.metrics.at("peak_rss_bytes"), 44 * kMib);
  EXPECT_GE(command.metrics.at("cpu_seconds"), 0.055);
  EXPECT_FALSE(command.metrics.contains("idle_rss_bytes"));
  EXPECT_FALSE(has_note(result.limitations, "peaks_sampled_from_outside"));
}

/// What a program saw of CLOCK_MONOTONIC at its begin and at its end.
std::pair<std::int64_t, std::int64_t> seen_clock(const std::filesystem::path& log) {
  std::ifstream file(log);
  std::pair<std::int64_t, std::int64_t> seen;
  file >> seen.first >> seen.second;
  return seen;
}

TEST_F(TrialTest, ShortProcessesHaveTheirOwnTimesHoweverLateMemduelLooks) {
  constexpr int kProcesses = 16;
  std::vector<ProcessSpec> processes;
  for (int i = 1; i <= kProcesses; ++i)
    processes.push_back(act("short-" + std::to_string(i), {"clock", "sleep", "2", "clock"}));
  const TrialRun result = run(processes);
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  for (int i = 1; i <= kProcesses; ++i) {
    const std::string role = "short-" + std::to_string(i);
    const RoundData& life = role_of(result, role).rounds.at(0);
    const auto [begin, end] = seen_clock(dir_ / ("7-" + role + ".stdout"));
    EXPECT_GE(end - begin, 2'000'000) << role;
    EXPECT_LE(life.begin_ns, begin) << role;
    EXPECT_GE(life.end_ns, end) << role;
    EXPECT_NEAR(life.metrics.at("round_seconds"),
                static_cast<double>(life.end_ns - life.begin_ns) * 1e-9, 1e-9);
  }
}

TEST_F(TrialTest, TreePeakIsTheLargestSumAndNotTheSumOfPeaks) {
  // Two processes hold 60 MiB each, one after the other: together never 120.
  ProcessSpec second = act("client-1", {"touch", "60", "sleep", "150", "free"});
  ProcessSpec first =
      act("server", {"touch", "60", "sleep", "150", "free", "print", "freed", "sleep", "300"});
  first.ready = Ready{};
  first.ready->log_pattern = "^freed$";
  second.after = {"server"};
  const TrialRun result = run({first, second});
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  const double tree = role_of(result, "all").metrics.at("peak_rss_bytes");
  EXPECT_GE(tree, 60 * kMib);
  EXPECT_LE(tree, 72 * kMib);
}

TEST_F(TrialTest, DescendantsCountForTheirRole) {
  const TrialRun result = run({act("server", {"touch", "20", "child", "4", "touch", "30", "sleep",
                                              "600", "sleep", "700", "wait"})});
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  // The child shares the parent's 20 MiB copy on write: RSS counts them twice.
  EXPECT_GE(role_of(result, "server").metrics.at("peak_rss_bytes"), 65 * kMib);
}

TEST_F(TrialTest, EndPssIsReadAtTheLastExpectedRound) {
  TrialPlan plan = plan_of({act("server", {"idle", "round", "1", "touch", "24", "end", "1", "round",
                                           "2", "end", "2", "sleep", "1500"})});
  plan.rounds = 2;
  const TrialRun result = run(plan);
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  const RoleData& server = role_of(result, "server");
  EXPECT_NEAR(server.rounds.at(1).metrics.at("end_pss_bytes"), 24 * kMib, 4 * kMib);
  EXPECT_EQ(server.metrics.at("end_pss_bytes"), server.rounds.at(1).metrics.at("end_pss_bytes"));
}

}  // namespace
}  // namespace memduel
