#include "util/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

Error refusal(const std::vector<std::string>& argv, const HelperOptions& options = {}) {
  try {
    capture(argv, options);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "expected an Error";
  return {ExitCode::ok, ""};
}

TEST(Capture, BothStreamsAndTheStatusAreRead) {
  const HelperResult done = capture({"sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(done.out, "out\n");
  EXPECT_EQ(done.err, "err\n");
  EXPECT_EQ(done.exit_status, 7);
}

// poll refuses more descriptors than a process may have.
TEST(Capture, AWaitThatCannotBeDoneIsAnErrorAtOnce) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  std::thread limiter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const rlimit none{1, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  });
  const auto begin = std::chrono::steady_clock::now();
  const Error error = refusal({"sh", "-c", "while :; do echo; sleep 0.1; done"});
  limiter.join();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_NE(std::string(error.what()).find("cannot wait"), std::string::npos) << error.what();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Capture, MoreThanAPipeHoldsIsRead) {
  const HelperResult done =
      capture({"sh", "-c", "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"});
  EXPECT_EQ(done.out.size(), 300000U);
  EXPECT_EQ(done.err.size(), 300000U);
}

TEST(Capture, ASignalIs128AndItsNumber) {
  EXPECT_EQ(capture({"sh", "-c", "kill -9 $$"}).exit_status, 137);
}

TEST(Capture, AProgramThatIsNotThereIsAnIoError) {
  const Error error = refusal({"/nowhere/program"});
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_EQ(error.message(), "/nowhere/program: cannot start: No such file or directory");
}

TEST(Capture, AProgramThatDoesNotEndIsKilled) {
  HelperOptions options;
  options.within_seconds = 0.2;
  EXPECT_EQ(refusal({"sleep", "600"}, options).code(), ExitCode::cannot_measure);
}

TEST(Capture, AProgramThatPrintsWithoutEndIsKilled) {
  EXPECT_EQ(refusal({"cat", "/dev/zero"}).code(), ExitCode::cannot_measure);
}

TEST(Capture, AProgramReadsItsInputInItsDirectory) {
  HelperOptions options;
  options.input = std::string(300000, 'x');
  options.directory = "/usr";
  const HelperResult done = capture({"sh", "-c", "pwd; wc -c"}, options);
  EXPECT_EQ(done.out, "/usr\n300000\n");
}

TEST(Capture, AProgramThatReadsNothingOfItsInputEndsAsIfItHad) {
  HelperOptions options;
  options.input = std::string(300000, 'x');
  EXPECT_EQ(capture({"true"}, options).exit_status, 0);
}

TEST(Capture, ADirectoryThatIsNotThereIsAnIoError) {
  HelperOptions options;
  options.directory = "/nowhere";
  EXPECT_EQ(refusal({"true"}, options).code(), ExitCode::io);
}

/// The number that a program writes into a file when it begins.
pid_t pid_in(const std::filesystem::path& file) {
  pid_t pid = 0;
  for (int tries = 0; pid == 0 && tries < 500; ++tries) {
    std::ifstream(file) >> pid;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return pid;
}

/// Whether it ends within five seconds; nobody may have taken note of it yet.
bool ends(pid_t pid) {
  for (int tries = 0; tries < 500; ++tries) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number;
    std::string name;
    std::string state;
    if (!(stat >> number >> name >> state) || state == "Z" || state == "X") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(Capture, WhatAProgramStartedIsKilledWithIt) {
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / ("memduel_capture_" + std::to_string(getpid()));
  HelperOptions options;
  options.within_seconds = 0.5;
  const std::string script = "sleep 300 & echo $! > " + file.string() + "; wait";
  EXPECT_EQ(refusal({"sh", "-c", script}, options).code(), ExitCode::cannot_measure);
  EXPECT_TRUE(ends(pid_in(file)));
  std::filesystem::remove(file);
}

TEST(Capture, AProgramDoesNotOutliveWhoAsked) {
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / ("memduel_asked_" + std::to_string(getpid()));
  const pid_t asking = ::fork();
  if (asking == 0) {
    capture({"sh", "-c", "echo $$ > " + file.string() + "; exec sleep 300"});
    ::_exit(0);
  }
  const pid_t asked = pid_in(file);
  ASSERT_GT(asked, 0);
  ::kill(asking, SIGKILL);
  ::waitpid(asking, nullptr, 0);
  EXPECT_TRUE(ends(asked));
  std::filesystem::remove(file);
}

// What it prints has an end then, and it has none.
TEST(Capture, AProgramThatClosesItsStreamsAndGoesOnIsKilled) {
  HelperOptions options;
  options.within_seconds = 0.3;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(refusal({"sh", "-c", "exec sleep 30 >/dev/null 2>&1"}, options).code(),
            ExitCode::cannot_measure);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Helper, ItsResultSaysHowItEnded) {
  HelperOptions options;
  options.within_seconds = 0.2;
  const HelperResult late = run_helper({"sleep", "600"}, options);
  EXPECT_TRUE(late.timed_out);
  EXPECT_EQ(late.signal, SIGKILL);
  EXPECT_EQ(late.exit_status, 137);
  const HelperResult loud = run_helper({"cat", "/dev/zero"});
  EXPECT_TRUE(loud.output_cut);
  EXPECT_FALSE(loud.timed_out);
  EXPECT_EQ(loud.signal, SIGKILL);
  const HelperResult well = run_helper({"sh", "-c", "exit 3"});
  EXPECT_FALSE(well.timed_out || well.output_cut || well.stopped);
  EXPECT_EQ(well.signal, 0);
  EXPECT_EQ(well.exit_status, 3);
}

TEST(Helper, ItsEnvironmentIsChangedAndOursIsNot) {
  ::setenv("MEMDUEL_HELPER_TEST", "ours", 1);
  HelperOptions options;
  options.environment = {{"MEMDUEL_HELPER_TEST", std::nullopt}, {"MEMDUEL_HELPER_OTHER", "a=b"}};
  const std::string script = "echo ${MEMDUEL_HELPER_TEST-none} $MEMDUEL_HELPER_OTHER";
  EXPECT_EQ(capture({"sh", "-c", script}, options).out, "none a=b\n");
  EXPECT_EQ(current_environment().at("MEMDUEL_HELPER_TEST"), "ours");
  EXPECT_FALSE(current_environment().contains("MEMDUEL_HELPER_OTHER"));
  ::unsetenv("MEMDUEL_HELPER_TEST");
}

TEST(Helper, ALogTakesBothStreamsAtItsEnd) {
  const ScratchDirectory place(::testing::TempDir(), "helper-log");
  HelperOptions options;
  options.log = place.path() / "log";
  write_file_atomically(options.log, "before\n");
  const HelperResult done = run_helper({"sh", "-c", "echo out; echo err >&2"}, options);
  EXPECT_EQ(read_file(options.log), "before\nout\nerr\n");
  EXPECT_EQ(done.out + done.err, "");
  options.log = place.path() / "nowhere" / "log";
  EXPECT_EQ(refusal({"true"}, options).where(), options.log.string());
}

TEST(Helper, AMissingDirectoryIsNamedAndNotTheProgram) {
  HelperOptions options;
  options.directory = "/nowhere";
  EXPECT_EQ(refusal({"/bin/sh", "-c", "true"}, options).message(),
            "/bin/sh: cannot start in /nowhere: No such file or directory");
}

TEST(Helper, WhatItLeavesInTheBackgroundIsEnded) {
  const HelperResult done = capture({"sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!"});
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_TRUE(ends(std::stoi(done.out)));
}

/// Asks for a stop while a helper runs.
std::jthread stop_soon(StopRequest& stop) {
  return std::jthread([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop.take(SIGTERM);
  });
}

TEST(Helper, AStopEndsItAndItsGroupBySigterm) {
  const ScratchDirectory place(::testing::TempDir(), "helper-stop");
  const std::filesystem::path file = place.path() / "pid";
  StopRequest stop;
  HelperOptions options;
  options.within_seconds.reset();
  options.stop = &stop;
  const std::jthread stopper = stop_soon(stop);
  const HelperResult done = run_helper(
      {"sh", "-c",
       "trap 'echo stopped; exit 9' TERM; sleep 300 & echo $! > " + file.string() + "; wait"},
      options);
  EXPECT_TRUE(done.stopped);
  EXPECT_FALSE(done.timed_out);
  EXPECT_EQ(done.exit_status, 9);
  EXPECT_EQ(done.out, "stopped\n");
  EXPECT_TRUE(ends(pid_in(file)));
}

TEST(Helper, AStopIsAnErrorOfItsKind) {
  StopRequest stop;
  HelperOptions options;
  options.stop = &stop;
  const std::jthread stopper = stop_soon(stop);
  const Error error = refusal({"sleep", "600"}, options);
  EXPECT_EQ(error.code(), ExitCode::terminated);
  EXPECT_EQ(error.message(), "sleep: stopped by a signal");
}

TEST(Helper, IsNotStartedAfterAStop) {
  const ScratchDirectory place(::testing::TempDir(), "helper-stop");
  StopRequest stop;
  stop.take(SIGINT);
  HelperOptions options;
  options.stop = &stop;
  options.log = place.path() / "log";
  EXPECT_TRUE(run_helper({"touch", (place.path() / "started").string()}, options).stopped);
  EXPECT_FALSE(std::filesystem::exists(place.path() / "started"));
}

TEST(Helper, HasteDoesNotWaitForOneThatKeepsOn) {
  StopRequest stop;
  HelperOptions options;
  options.stop = &stop;
  const std::jthread stopper([&stop] {
    for (int i = 0; i < 2; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      stop.take(SIGINT);
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  const HelperResult done = run_helper({"sh", "-c", "trap '' TERM; sleep 600"}, options);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  EXPECT_TRUE(done.stopped);
  EXPECT_EQ(done.signal, SIGKILL);
}

TEST(Helper, ASignalThatKillsUsKillsItsGroupFirst) {
  const ScratchDirectory place(::testing::TempDir(), "helper-default");
  const std::filesystem::path file = place.path() / "pid";
  const pid_t asking = ::fork();
  if (asking == 0) {
    capture({"sh", "-c", "sleep 300 & echo $! > " + file.string() + "; wait"});
    ::_exit(0);
  }
  const pid_t grandchild = pid_in(file);
  ASSERT_GT(grandchild, 0);
  ::kill(asking, SIGTERM);
  int status = 0;
  ::waitpid(asking, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_TRUE(ends(grandchild));
}

TEST(Helper, TheSignalsActionsAreAsBeforeAfterwards) {
  capture({"true"});
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    sigaction(number, nullptr, &action);
    EXPECT_EQ(action.sa_handler, SIG_DFL) << number;
  }
}

TEST(Helper, SeveralThreadsStartThemAtOnce) {
  std::atomic<int> well = 0;
  run_parallel(40, [&](std::size_t i) {
    const std::string number = std::to_string(i);
    well += capture({"echo", number}).out == number + "\n" ? 1 : 0;
  });
  EXPECT_EQ(well, 40);
}

TEST(ResolveProgram, LooksInPathAndFromTheDirectory) {
  const ScratchDirectory place(::testing::TempDir(), "programs");
  const std::filesystem::path tool = place.path() / "bin/tool";
  make_directory(place.path() / "bin");
  write_file_atomically(tool, "#!/bin/sh\n");
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  write_file_atomically(place.path() / "bin/text", "not executable");
  const std::string path = "/nowhere:" + (place.path() / "bin").string();
  EXPECT_EQ(resolve_program("tool", "/", path), tool);
  EXPECT_EQ(resolve_program("./bin/tool", place.path(), ""), tool);
  EXPECT_EQ(resolve_program("text", "/", path), std::nullopt);
  EXPECT_EQ(resolve_program("absent", "/", path), std::nullopt);
  EXPECT_EQ(resolve_program("tool", place.path(), "/nowhere:bin"), tool)
      << "a folder in PATH may start at the directory of the process";
}

TEST(WhyNotRun, NamesTheInterpreterThatIsMissing) {
  const ScratchDirectory place(::testing::TempDir(), "why-not-run");
  const std::string script = place.path() / "script";
  write_file_atomically(script, "#! /nonexistent/python3 -u\nprint()\n");
  EXPECT_EQ(why_not_run(script, ENOENT),
            "its first line names the interpreter /nonexistent/python3, which is not there");
  write_file_atomically(script, "#!/bin/sh\r\ntrue\r\n");
  EXPECT_EQ(why_not_run(script, ENOENT),
            "its first line names the interpreter /bin/sh, which is not there: the line ends as in "
            "Windows");
  write_file_atomically(script,
                        "\x7f"
                        "ELF");
  EXPECT_EQ(why_not_run(script, ENOENT),
            "its dynamic linker is not there: it was built for another system");
}

TEST(WhyNotRun, IsTheSystemsWordsElsewhere) {
  EXPECT_EQ(why_not_run("no-such-program", ENOENT), "No such file or directory");
  EXPECT_EQ(why_not_run("/no/such/program", ENOENT), "No such file or directory");
  EXPECT_EQ(why_not_run("/bin/sh", EACCES), "Permission denied");
}

/// The wait status of a process that does this.
int status_of(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(InheritedState, AChildsStatusIsThereWhereSigchldCameIgnored) {
  const int status = status_of([] {
    std::signal(SIGCHLD, SIG_IGN);
    undo_inherited_state();
    const pid_t child = fork();
    if (child == 0) _exit(7);
    int found = 0;
    if (waitpid(child, &found, 0) != child) _exit(1);
    _exit(WEXITSTATUS(found));
  });
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(InheritedState, ATerminationArrivesWhereItCameBlocked) {
  const int status = status_of([] {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    undo_inherited_state();
    raise(SIGTERM);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST(Parallel, RunsEveryNumberOnce) {
  for (const std::size_t count : {0U, 1U, 3U, 1000U}) {
    std::vector<std::atomic<int>> times(count);
    run_parallel(count, [&](std::size_t i) { ++times[i]; });
    for (const auto& one : times) EXPECT_EQ(one, 1);
  }
}

TEST(Parallel, DoesAllAndThrowsWhatTheFirstThrew) {
  std::atomic<int> done = 0;
  const auto fails_twice = [&](std::size_t i) {
    ++done;
    if (i == 3 || i == 7) throw std::runtime_error(std::to_string(i));
  };
  try {
    run_parallel(10, fails_twice);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "3");
  }
  EXPECT_EQ(done, 10);
}

TEST(Parallel, UsesTheThreadThatAsks) {
  std::set<std::thread::id> threads;
  run_parallel(1, [&](std::size_t) { threads.insert(std::this_thread::get_id()); });
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

}  // namespace
}  // namespace memduel
