// Jobs of several processes that nobody wrote for memduel: how they start, end and misbehave.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "trial/processes.h"
#include "trial_fixture.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::HasSubstr;

/// The test's own socket that listens on `port`.
Descriptor listen_on(int port) {
  Descriptor server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(server.get(), 1), 0);
  return server;
}

std::string this_process() {
  return "process " + std::to_string(getpid()) + " (";
}

std::string message_of(const std::vector<Note>& notes, const std::string& code) {
  for (const Note& note : notes) {
    if (note.code == code) return note.message;
  }
  return {};
}

/// Words for rounds 1 to `last`, each `ms` long.
std::vector<std::string> rounds(int last, const std::string& ms) {
  std::vector<std::string> words = {"idle"};
  for (int round = 1; round <= last; ++round) {
    const std::string n = std::to_string(round);
    words.insert(words.end(), {"round", n, "sleep", ms, "end", n});
  }
  return words;
}

TEST_F(TrialTest, APortThatIsTakenIsNamedBeforeTheServerIsStarted) {
  const int port = free_port();
  const Descriptor other = listen_on(port);
  const TrialRun result = run({server_on(port, {"file", (dir_ / "started").string()}),
                               act("client-1", {"sleep", "60000"})});
  EXPECT_THAT(result.trial.failure, HasSubstr("server cannot listen on port " +
                                              std::to_string(port) + ": " + this_process()));
  EXPECT_THAT(result.trial.failure, HasSubstr("{port:NAME} is a free port in every trial"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "started"));
}

TEST_F(TrialTest, APortThatAnotherProcessTakesMeanwhileIsNotTakenForReady) {
  const int port = free_port();
  ProcessSpec server = act("server", {"file", (dir_ / "started").string(), "sleep", "60000"});
  server.ready = Ready{};
  server.ready->port = port;
  server.ready->within_seconds = 2;
  Descriptor other;
  std::thread thief([&] {
    while (!std::filesystem::exists(dir_ / "started"))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    other = listen_on(port);
  });
  const TrialRun result = run({server});
  thief.join();
  EXPECT_THAT(result.trial.failure,
              HasSubstr("listening on port " + std::to_string(port) + ", which " + this_process()));
}

TEST_F(TrialTest, APortThatIsHeldAfterTheTrialIsAWarning) {
  TrialPlan plan = plan_of({act("server", {"sleep", "20"})});
  plan.ports = {{"fl", free_port()}, {"other", free_port()}};
  EXPECT_FALSE(has_note(run(plan).warnings, "port_still_held"));
  const Descriptor holder = listen_on(plan.ports["fl"]);
  const TrialRun result = run(plan);
  EXPECT_EQ(result.trial.status, TrialStatus::ok);
  EXPECT_THAT(message_of(result.warnings, "port_still_held"),
              testing::AllOf(HasSubstr(this_process()), HasSubstr("{port:fl}")));
}

TEST_F(TrialTest, AClientThatDoesNotWaitForItsServerIsToldWhatItLacks) {
  const int port = free_port();
  const TrialRun result = run({server_on(port, {"sleep", "60000"}),
                               act("client-1", {"complain", "connection refused", "exit", "1"})});
  EXPECT_EQ(
      result.trial.failure,
      "client-1 exited with status 1 while server was not ready yet (set \"after\" to make it "
      "wait)\n  | connection refused");
}

TEST_F(TrialTest, AServerThatNeverEndsIsToldFromOneThatIsBusy) {
  TrialPlan plan = plan_of({act("server", {"sleep", "60000"}), act("client-1", {})});
  plan.deadline_seconds = 0.5;
  EXPECT_THAT(run(plan).trial.failure,
              HasSubstr("still running: server\n  the others have exited; set \"end\": "
                        "\"stop\" to stop server with them"));
  plan.processes.pop_back();
  EXPECT_THAT(run(plan).trial.failure, testing::Not(HasSubstr("the others")));
}

TEST_F(TrialTest, ATrialIsStoppedWhenEveryMarkingRoleHasEndedTheRound) {
  TrialPlan plan = plan_of({act("server", rounds(1000, "20")), act("client-1", rounds(1000, "30")),
                            act("client-2", {"sleep", "60000"})});
  plan.stop_after_round = 3;
  const TrialRun result = run(plan);
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_EQ(role_of(result, "server").rounds.size(), 3U);
  EXPECT_EQ(role_of(result, "client-1").rounds.size(), 3U);
  EXPECT_EQ(role_of(result, "all").rounds.size(), 3U);
  EXPECT_EQ(role_of(result, "client-2").exit_signal, SIGTERM);
}

TEST_F(TrialTest, ARoundThatNoRoleMarksStopsNoTrialAndIsToldSo) {
  TrialPlan plan = plan_of({act("server", {"sleep", "20"})});
  plan.stop_after_round = 3;
  EXPECT_TRUE(has_note(run(plan).warnings, kNoRoundToStopAfter));
  plan.processes = {act("server", rounds(2, "20"))};
  EXPECT_FALSE(has_note(run(plan).warnings, kNoRoundToStopAfter)) << "it ended before";
}

TEST_F(TrialTest, ARoundThatOnlyTheNextOneEndsStopsATrialToo) {
  TrialPlan plan = plan_of({act("server", {"round", "1", "sleep", "20", "round", "2", "sleep", "20",
                                           "round", "3", "sleep", "60000"})});
  plan.stop_after_round = 2;
  const TrialRun result = run(plan);
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_EQ(role_of(result, "server").rounds.size(), 2U);
}

TEST_F(TrialTest, ALastRoundThatNothingEndsIsOverAfterTwiceTheLongest) {
  TrialPlan plan = plan_of({act("server", {"round", "1", "sleep", "300", "round", "2", "sleep",
                                           "400", "round", "3", "sleep", "60000"})});
  plan.stop_after_round = 3;
  const TrialRun result = run(plan);
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  const auto& rounds = role_of(result, "server").rounds;
  ASSERT_EQ(rounds.size(), 3U);
  EXPECT_GE(rounds[2].end_ns - rounds[2].begin_ns, 790'000'000);
  EXPECT_LT(rounds[2].end_ns - rounds[2].begin_ns, 5'000'000'000);
  EXPECT_TRUE(has_note(result.limitations, "last_round_ended_by_time"));
}

TEST_F(TrialTest, ALastRoundIsNotCutShortWhereRoundsMarkTheirEnds) {
  TrialPlan plan = plan_of({act("server", {"round", "1", "sleep", "50", "end", "1", "round", "2",
                                           "sleep", "1500", "end", "2", "sleep", "60000"})});
  plan.stop_after_round = 2;
  const TrialRun result = run(plan);
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  const auto& rounds = role_of(result, "server").rounds;
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_GE(rounds[1].end_ns - rounds[1].begin_ns, 1'450'000'000);
  EXPECT_FALSE(has_note(result.limitations, "last_round_ended_by_time"));
}

TEST_F(TrialTest, AServerInTheBackgroundIsMeasuredAndStoppedAsItsRole) {
  const int port = free_port();
  const auto pid_file = dir_ / "daemon";
  ProcessSpec client = act("client-1", {"sleep", "700"});
  client.after = {"server"};
  const TrialRun result =
      run({server_on(port, {"background", pid_file.string(), "touch", "48"}), client});
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  const RoleData& server = role_of(result, "server");
  EXPECT_GE(server.metrics.at("peak_rss_bytes"), 48 * kMib);
  EXPECT_FALSE(server.metrics.contains("cpu_seconds"));
  EXPECT_GE(role_of(result, "all").metrics.at("peak_rss_bytes"), 48 * kMib);
  EXPECT_TRUE(has_note(result.warnings, "role_became_daemon"));
  EXPECT_FALSE(has_note(result.warnings, "killed_after_grace"));
  EXPECT_TRUE(gone_within(pid_in(pid_file), 2));
}

TEST_F(TrialTest, ADaemonThatForksTwiceIsItsRoleToo) {
  const int port = free_port();
  for (int i = 0; i < 5; ++i) {
    const auto pid_file = dir_ / ("daemon" + std::to_string(i));
    ProcessSpec client = act("client-1", {"sleep", "100"});
    client.after = {"server"};
    const TrialRun result =
        run({server_on(port, {"forktwice", pid_file.string(), "touch", "48"}), client});
    ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
    EXPECT_GE(role_of(result, "server").metrics.at("peak_rss_bytes"), 48 * kMib);
    EXPECT_TRUE(gone_within(pid_in(pid_file), 2));
  }
}

TEST_F(TrialTest, ADaemonThatIgnoresSigtermIsKilled) {
  const int port = free_port();
  const auto pid_file = dir_ / "daemon";
  ProcessSpec client = act("client-1", {"sleep", "50"});
  client.after = {"server"};
  const TrialRun result =
      run({server_on(port, {"ignore", "15", "background", pid_file.string()}), client});
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_TRUE(has_note(result.warnings, "killed_after_grace"));
  EXPECT_TRUE(gone_within(pid_in(pid_file), 2));
}

TEST_F(TrialTest, ADaemonThatNeverGetsReadyFailsTheTrialAndIsGone) {
  const auto pid_file = dir_ / "daemon";
  ProcessSpec server = act("server", {"background", pid_file.string(), "sleep", "300"});
  server.ready = Ready{};
  server.ready->file = dir_ / "never";
  server.end = End::stop;
  const TrialRun result = run({server, act("client-1", {"sleep", "60000"})});
  EXPECT_THAT(result.trial.failure, HasSubstr("server exited with status 0 before it was ready"));
  EXPECT_TRUE(gone_within(pid_in(pid_file), 2));
}

TEST_F(TrialTest, DescendantsThatMatchAreARoleOfTheirOwn) {
  ProcessSpec client;
  client.role = "client-1";
  client.argv = {"/bin/sh", "-c",
                 MEMDUEL_ACT " sleep 900 & " MEMDUEL_ACT " touch 64 sleep 900; wait"};
  TrialPlan plan = plan_of({client});
  plan.match = {{"trainer", "memduel-act touch \\d+"}, {"nobody", "no such program"}};
  const TrialRun result = run(plan);
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_GE(role_of(result, "trainer").metrics.at("peak_rss_bytes"), 64 * kMib);
  EXPECT_GE(role_of(result, "all").metrics.at("peak_rss_bytes"), 64 * kMib);
  EXPECT_TRUE(role_of(result, "all").metrics.contains("cpu_seconds"));
  EXPECT_LE(role_of(result, "client-1").series.at(0).values.back(), 16 * kMib);
  EXPECT_TRUE(has_note(result.limitations, "peaks_sampled_from_outside"));
  EXPECT_THAT(message_of(result.warnings, "match_found_nothing"), HasSubstr("no such program"));
}

TEST_F(TrialTest, AGigabyteOfLogDoesNotStopTheJob) {
  const TrialRun result =
      run({act("server", {"flood", "1024", "print", "the last line", "exit", "1"})});
  EXPECT_THAT(result.trial.failure, testing::StartsWith("server exited with status 1"));
  EXPECT_THAT(result.trial.failure, testing::EndsWith("\n  | the last line"));
  EXPECT_LT(result.trial.failure.size(), 6000U);
}

TEST_F(TrialTest, PssIsSummedBetweenRoundsWhereItIsAskedFor) {
  TrialPlan plan = plan_of({act("server", {"round", "1", "touch", "40", "sleep", "1600", "end", "1",
                                           "free", "sleep", "100"}),
                            act("client-1", {"touch", "24", "sleep", "1600", "free"})});
  plan.pss_between_rounds = true;
  const TrialRun result = run(plan);
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  const Metrics& tree = role_of(result, "all").metrics;
  EXPECT_NEAR(tree.at("peak_pss_bytes"), 64 * kMib, 6 * kMib);
  EXPECT_LE(tree.at("peak_pss_bytes"), tree.at("peak_rss_bytes"));
}

TEST_F(TrialTest, TheGroupsPeakComesWithItsParts) {
  ProcessSpec writer;
  writer.role = "client-1";
  writer.argv = {"/bin/sh", "-c", "head -c 33554432 /dev/zero > page_cache; sleep 0.6"};
  const TrialRun result = run({act("server", {"touch", "64", "sleep", "900"}), writer});
  ASSERT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  const Metrics& tree = role_of(result, "all").metrics;
  if (!tree.contains("peak_cgroup_bytes")) return;  // no memory group may be made here
  EXPECT_GE(tree.at("peak_cgroup_bytes"), 96 * kMib);
  EXPECT_NEAR(tree.at("peak_cgroup_anon_bytes"), 64 * kMib, 8 * kMib);
  EXPECT_GE(tree.at("peak_cgroup_file_bytes"), 31 * kMib);
  EXPECT_LE(tree.at("peak_cgroup_anon_bytes") + tree.at("peak_cgroup_file_bytes") +
                tree.at("peak_cgroup_shmem_bytes"),
            tree.at("peak_cgroup_bytes"));
}

}  // namespace
}  // namespace memduel
