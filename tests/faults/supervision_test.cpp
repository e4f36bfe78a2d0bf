// Processes that end badly, late or not at all: what the trial says, and that nothing is left.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "support/limited_memory.h"
#include "trial/processes.h"
#include "trial_fixture.h"
#include "util/error.h"

namespace memduel {
namespace {

TEST_F(TrialTest, StatusZeroOfAllProcessesIsSuccess) {
  const TrialRun result = run({act("server", {"sleep", "20"}), act("client-1", {"sleep", "10"})});
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_EQ(role_of(result, "server").exit_status, 0);
  EXPECT_EQ(result.trial.roles.back().role, "all");
}

TEST_F(TrialTest, ExitStatusThreeNamesRoleStatusRoundAndLastLogLines) {
  const TrialRun result =
      run({act("server", {"sleep", "5000"}),
           act("client-1", {"round", "4", "complain", "no such layer: conv9", "exit", "3"})});
  EXPECT_EQ(result.trial.status, TrialStatus::failed);
  EXPECT_EQ(result.trial.failure,
            "client-1 exited with status 3 in round 4\n  | no such layer: conv9");
}

TEST_F(TrialTest, AnAllowedStatusIsSuccess) {
  ProcessSpec process = act("server", {"exit", "3"});
  process.exit_statuses = {0, 3};
  EXPECT_EQ(run({process}).trial.status, TrialStatus::ok);
}

TEST_F(TrialTest, ASignalIsNamed) {
  const TrialRun result = run({act("server", {"raise", "11"})});
  EXPECT_EQ(result.trial.status, TrialStatus::failed);
  EXPECT_EQ(result.trial.failure, "server was ended by signal 11 (Segmentation fault)");
  EXPECT_EQ(role_of(result, "server").exit_signal, SIGSEGV);
}

TEST_F(TrialTest, AMissingProgramIsNamedWithTheReason) {
  ProcessSpec process = act("server", {});
  process.argv = {"no-such-program-of-memduel", "--now"};
  const TrialRun result = run({process});
  EXPECT_EQ(result.trial.status, TrialStatus::failed);
  EXPECT_EQ(result.trial.failure,
            "server could not be started: executing the program (no-such-program-of-memduel "
            "--now) failed: No such file or directory");
}

TEST_F(TrialTest, AMissingWorkingDirectoryIsAStartFailure) {
  ProcessSpec process = act("server", {});
  process.cwd = dir_ / "missing";
  EXPECT_THAT(run({process}).trial.failure, testing::HasSubstr("entering the working directory"));
}

TEST_F(TrialTest, ProgramsAreLookedUpInTheProcessesOwnPath) {
  std::filesystem::create_directories(dir_ / "bin");
  std::filesystem::create_symlink(MEMDUEL_ACT, dir_ / "bin" / "only-here");
  ProcessSpec process = act("server", {});
  process.argv = {"only-here", "exit", "0"};
  process.env["PATH"] = (dir_ / "bin").string();
  EXPECT_EQ(run({process}).trial.status, TrialStatus::ok);
}

TEST_F(TrialTest, ArgumentsWithSpacesQuotesAndUtf8ArriveUnchanged) {
  const std::string text = "a \"b\" 'c' $HOME ü\t*";
  ASSERT_EQ(run({act("server", {"print", text})}).trial.status, TrialStatus::ok);
  std::ifstream log(dir_ / "7-server.stdout");
  std::string line;
  std::getline(log, line);
  EXPECT_EQ(line, text);
}

TEST_F(TrialTest, AProcessThatNeverGetsReadySaysWhatWasWaitedFor) {
  ProcessSpec server = act("server", {"print", "hello", "sleep", "20000"});
  server.ready = Ready{};
  server.ready->file = dir_ / "server.address";
  server.ready->within_seconds = 0.2;
  ProcessSpec client = act("client-1", {"file", (dir_ / "client-ran").string()});
  client.after = {"server"};
  const TrialRun result = run({server, client});
  EXPECT_EQ(result.trial.status, TrialStatus::failed);
  EXPECT_EQ(result.trial.failure, "server was not ready within 0.2 s; waited for the file " +
                                      (dir_ / "server.address").string() + "\n  | hello");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "client-ran"));
}

TEST_F(TrialTest, AnEndBeforeReadinessIsAFailureEvenWithStatusZero) {
  ProcessSpec server = act("server", {"exit", "0"});
  server.ready = Ready{};
  server.ready->file = dir_ / "never";
  EXPECT_THAT(run({server}).trial.failure, testing::HasSubstr("before it was ready"));
}

TEST_F(TrialTest, ClientsStartOnceTheServersPortListens) {
  ProcessSpec server = act("server", {"sleep", "100", "listen", "39471", "sleep", "20000"});
  server.ready = Ready{};
  server.ready->port = 39471;
  server.end = End::stop;
  ProcessSpec client = act("client-1", {"exit", "0"});
  client.after = {"server"};
  const TrialRun result = run({server, client});
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_EQ(role_of(result, "server").exit_signal, SIGTERM);
}

TEST_F(TrialTest, AProcessThatIgnoresSigtermIsKilledAfterTheGrace) {
  ProcessSpec server =
      act("server", {"ignore", "15", "file", (dir_ / "up").string(), "sleep", "60000"});
  server.ready = Ready{};
  server.ready->file = dir_ / "up";
  server.end = End::stop;
  ProcessSpec client = act("client-1", {});
  client.after = {"server"};
  const TrialRun result = run({server, client});
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_EQ(role_of(result, "server").exit_signal, SIGKILL);
  EXPECT_TRUE(has_note(result.warnings, "killed_after_grace"));
}

TEST_F(TrialTest, TheDeadlineEndsTheTrialAndNamesWhoIsStillThere) {
  TrialPlan plan = plan_of({act("server", {"sleep", "60000"}), act("client-1", {})});
  plan.deadline_seconds = 0.5;
  const TrialRun result = run(plan);
  EXPECT_EQ(result.trial.status, TrialStatus::failed);
  EXPECT_THAT(result.trial.failure,
              testing::HasSubstr("did not end within 0.5 s; still running: server"));
}

TEST_F(TrialTest, ADaemonisedGrandchildIsGoneWhenTheTrialEnds) {
  const TrialRun result = run({act("server", {"daemonise", (dir_ / "daemon").string()})});
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  const pid_t daemon = pid_in(dir_ / "daemon");
  ASSERT_GT(daemon, 0);
  EXPECT_TRUE(gone_within(daemon, 2));
  EXPECT_TRUE(has_note(result.warnings, "processes_left_over"));
}

/// Starts a process from outside any trial that carries the same mark as `pid`.
pid_t start_with_the_mark_of(pid_t pid) {
  const std::string mark = environment_of(pid, kTrialVariable).value_or("");
  const pid_t child = fork();
  if (child == 0) {
    setenv(kTrialVariable, mark.c_str(), 1);
    execl(MEMDUEL_ACT, MEMDUEL_ACT, "sleep", "60000", nullptr);
    _exit(127);
  }
  return child;
}

TEST_F(TrialTest, AMarkedProcessOutsideTheTreeIsKilledAndReported) {
  const auto daemon = dir_ / "daemon";
  pid_t escaped = 0;
  std::thread other([&] {
    while (pid_in(daemon) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    escaped = start_with_the_mark_of(pid_in(daemon));
  });
  const TrialRun result = run({act("server", {"daemonise", daemon.string(), "sleep", "1000"})});
  other.join();
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  int status = 0;
  ASSERT_EQ(waitpid(escaped, &status, 0), escaped);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(has_note(result.warnings, "process_escaped"));
}

TEST_F(TrialTest, GarbageAmongMarksIsCountedAndHarmless) {
  const TrialRun result = run({act(
      "server", {"idle", "round", "1", "garbage", "round_end oops", "end", "1", "sleep", "50"})});
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_EQ(role_of(result, "server").rounds.size(), 1U);
  EXPECT_TRUE(has_note(result.warnings, "garbled_marks"));
}

TEST_F(TrialTest, AForkedChildDoesNotMarkInItsParentsName) {
  const TrialRun result =
      run({act("server", {"idle", "round", "1", "child", "2", "round", "9", "wait", "end", "1"})});
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  ASSERT_EQ(role_of(result, "server").rounds.size(), 1U);
  EXPECT_EQ(role_of(result, "server").rounds[0].round, 1);
}

TEST_F(TrialTest, AStopRequestEndsTheTrialAndLeavesNothing) {
  const TrialPlan plan =
      plan_of({act("server", {"daemonise", (dir_ / "daemon").string(), "sleep", "60000"})});
  std::thread asker([this] {
    while (!std::filesystem::exists(dir_ / "daemon")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    stop_.take(SIGTERM);
  });
  try {
    run(plan);
    ADD_FAILURE() << "a stopped trial has no result";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::terminated);
  }
  asker.join();
  EXPECT_TRUE(gone_within(pid_in(dir_ / "daemon"), 2));
}

TEST_F(TrialTest, OnlyASecondInterruptEndsWhatIgnoresTheFirst) {
  TrialPlan cleanup = plan_of({act("cleanup", {"file", (dir_ / "up").string(), "sleep", "60000"})});
  cleanup.ignores_stop = true;
  stop_.take(SIGINT);
  std::thread asker([this] {
    while (!std::filesystem::exists(dir_ / "up"))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop_.take(SIGINT);
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(run(cleanup), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  asker.join();
}

/// The launcher of the trial that this process runs.
pid_t launcher_of_this_process() {
  for (const ProcessLine& process : all_processes())
    if (process.parent == ::getpid() &&
        command_of(process.pid).find("memduel-launcher") != std::string::npos)
      return process.pid;
  return 0;
}

TEST_F(TrialTest, ALauncherThatSomebodyStopsIsKilledAfterTheGrace) {
  const auto daemon = dir_ / "daemon";
  const TrialPlan plan = plan_of({act("server", {"daemonise", daemon.string(), "sleep", "60000"})});
  std::thread stopper([&] {
    while (!std::filesystem::exists(daemon))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(launcher_of_this_process(), SIGSTOP);
  });
  const auto begin = std::chrono::steady_clock::now();
  const TrialRun result = run(plan);
  stopper.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_TRUE(result.trial.harness_fault);
  EXPECT_TRUE(gone_within(pid_in(daemon), 2));
}

TEST_F(TrialTest, AJobThatRemovesItsOwnDirectoryIsOneFailedOrWholeTrial) {
  std::filesystem::create_directories(dir_ / "trial");
  TrialPlan plan = plan_of({act("server", {})});
  plan.processes[0].argv = {"/bin/sh", "-c", "rm -rf ../trial; exit 0"};
  plan.trial_dir = dir_ / "trial";
  plan.processes[0].heap_dir = dir_ / "trial/heap/server";
  plan.meters = {"procfs", "heap"};
  const TrialRun result = run(plan);
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_FALSE(std::filesystem::exists(dir_ / "trial"));
}

TEST_F(TrialTest, MarksOfAnotherClockAreOfWhenTheyCame) {
  const TrialRun result =
      run({act("server", {"idle", "garbage", "round_begin 5000 1 - - - -", "sleep", "200",
                          "garbage", "round_end 900000000000000000 1 - - - -"})});
  EXPECT_EQ(result.trial.status, TrialStatus::ok) << result.trial.failure;
  EXPECT_TRUE(has_note(result.warnings, "clock_of_role"));
  const RoleData& server = role_of(result, "server");
  ASSERT_EQ(server.rounds.size(), 1U);
  EXPECT_GE(server.rounds[0].begin_ns, result.trial.begin_ns);
  EXPECT_LE(server.rounds[0].end_ns, result.trial.end_ns);
  EXPECT_GT(server.rounds[0].metrics.at("round_seconds"), 0.15);
  EXPECT_LT(server.rounds[0].metrics.at("round_seconds"), 5);
}

/// Runs a trial in a child process and returns its pid once the daemon's pid file exists.
pid_t supervise_in_a_child(const TrialPlan& plan, const std::filesystem::path& daemon) {
  const pid_t child = fork();
  if (child == 0) {
    run_trial(plan, {MEMDUEL_LAUNCHER, nullptr});
    _exit(0);
  }
  while (!std::filesystem::exists(daemon)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return child;
}

TEST_F(TrialTest, KillingTheSupervisorLeavesNoProcess) {
  const auto daemon = dir_ / "daemon";
  const pid_t supervisor = supervise_in_a_child(
      plan_of({act("server", {"daemonise", daemon.string(), "sleep", "60000"})}), daemon);
  std::vector<pid_t> processes = descendants_of(supervisor, all_processes());
  processes.push_back(pid_in(daemon));
  EXPECT_GE(processes.size(), 3U);  // launcher, server, daemon
  kill(supervisor, SIGKILL);
  waitpid(supervisor, nullptr, 0);
  for (const pid_t pid : processes) EXPECT_TRUE(gone_within(pid, 2)) << pid;
}

TEST_F(TrialTest, KillingTheLauncherFailsTheTrialAndLeavesNoProcess) {
  const auto daemon = dir_ / "daemon";
  std::thread killer([&] {
    while (!std::filesystem::exists(daemon)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    for (const pid_t pid : descendants_of(getpid(), all_processes())) {
      if (command_of(pid).starts_with(MEMDUEL_LAUNCHER)) kill(pid, SIGKILL);
    }
  });
  const TrialRun result = run({act("server", {"daemonise", daemon.string(), "sleep", "60000"})});
  killer.join();
  EXPECT_TRUE(result.trial.harness_fault);
  EXPECT_EQ(result.trial.status, TrialStatus::failed);
  EXPECT_TRUE(gone_within(pid_in(daemon), 2));
}

TEST_F(TrialTest, AProcessKilledForMemoryIsToldFromOneThatWasKilled) {
  const LimitedMemory limit;
  const TrialRun killed = run({act("server", {"raise", "9"})});
  EXPECT_EQ(killed.trial.status, TrialStatus::failed);
  if (!limit.usable()) return;  // without a memory group of its own the test may not use up memory
  const TrialRun result = run({act("server", {"idle", "round", "1", "touch", "20", "end", "1",
                                              "round", "2", "touch", "600", "end", "2"})});
  EXPECT_EQ(result.trial.status, TrialStatus::killed_for_memory);
  EXPECT_EQ(result.trial.failure, "server was killed for memory in round 2");
  EXPECT_EQ(role_of(result, "server").rounds.size(), 1U);
}

TEST_F(TrialTest, PlansThatCannotRunAreRefused) {
  ProcessSpec circle = act("server", {});
  circle.after = {"server"};
  ProcessSpec unknown = act("client-1", {});
  unknown.after = {"servr"};
  ProcessSpec endless = act("server", {});
  endless.end = End::stop;
  TrialPlan meters = plan_of({act("server", {})});
  meters.meters = {"profcs"};
  for (const TrialPlan& plan :
       {plan_of({circle}), plan_of({act("server", {}), unknown}), plan_of({endless}), plan_of({}),
        meters, plan_of({act("server", {}), act("server", {})})}) {
    EXPECT_THROW(run(plan), Error);
  }
}

}  // namespace
}  // namespace memduel
