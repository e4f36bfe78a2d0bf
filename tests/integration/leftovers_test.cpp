// What the next memduel ends that an earlier one left when it was killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "foreign_repository.h"
#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

/// To the launchers of the memduel that runs in `place`.
void signal_launchers(const Workplace& place, int number) {
  for (const pid_t pid : processes_with("memduel-launcher")) {
    const std::string environment = read_file("/proc/" + std::to_string(pid) + "/environ");
    if (environment.find(place.path("cache").string()) != std::string::npos) ::kill(pid, number);
  }
}

TEST(Leftovers, OfAKillOfMemduelAndItsLauncherAreEndedByTheNextRun) {
  const Workplace place;
  const std::string mark = "left-" + std::to_string(::getpid());
  {
    Running run(place, {"compare", "--a",
                        MEMDUEL_ACT " print " + mark + " daemonise " +
                            place.path("daemon").string() + " sleep 60000",
                        "--b", "true", "--out", place.path("run").string(), "--quiet"});
    ASSERT_TRUE(within(seconds(30), [&] { return fs::exists(place.path("daemon")); }));
    signal_launchers(place, SIGSTOP);  // so that it cannot do its work first
    run.signal(SIGKILL);
    EXPECT_EQ(run.wait().status, 128 + SIGKILL);
    signal_launchers(place, SIGKILL);
  }
  std::this_thread::sleep_for(milliseconds(300));
  ASSERT_FALSE(processes_with(mark).empty()) << "the daemon has a session of its own";
  const Finished doctor = memduel(place, {"doctor"});
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("leftovers"), HasSubstr("memduel-act")));
  const Finished next =
      memduel(place, {"compare", "--a", "true", "--b", "true", "--calibrate", "--repeats", "1",
                      "--quiet", "--out", place.path("next").string()});
  EXPECT_EQ(next.status, 0) << next.err;
  EXPECT_THAT(next.err, HasSubstr("ended the leftovers of a killed memduel"));
  EXPECT_TRUE(within(seconds(30), [&] { return processes_with(mark).empty(); }));
}

// The numbers of the processes outside mean nothing in there, and their groups are in its reach.
TEST(Leftovers, AreNotTheRunsOutsideOfAContainer) {
  const Workplace place;
  Running outside(place,
                  {"compare", "--a", MEMDUEL_ACT " sleep 1500", "--b", MEMDUEL_ACT " sleep 1501",
                   "--repeats", "1", "--quiet", "--out", place.path("outside").string()});
  ASSERT_TRUE(within(seconds(30), [&] { return fs::exists(place.path("outside/run.sqlite")); }));
  std::this_thread::sleep_for(milliseconds(500));
  const Workplace container;
  // With the same cache directory, so that the namespace alone separates them.
  Running inside(
      container, "/usr/bin/env",
      {"XDG_CACHE_HOME=" + place.path("cache").string(), "unshare", "-pf", "--mount-proc",
       MEMDUEL_PROGRAM, "compare", "--a", "true", "--b", "true", "--calibrate", "--repeats", "1",
       "--quiet", "--out", container.path("inside").string()});
  const Finished within_it = inside.wait();
  EXPECT_EQ(within_it.status, 0) << within_it.err;
  EXPECT_EQ(within_it.err, "");
  const Finished finished = outside.wait();
  EXPECT_EQ(finished.status, 0) << finished.err;
  for (const auto& trial : results_in(place.path("outside")).at("trials"))
    EXPECT_EQ(trial.at("status"), "ok") << trial;
}

TEST(Leftovers, OfABuildThatWasKilledAreEndedAndItsWorktreesRemoved) {
  const Workplace place;
  const ForeignRepository repository(place);
  static_cast<void>(repository.commit("base"));
  repository.set_buffer(12);
  static_cast<void>(repository.commit("larger"));
  const std::string mark = "69" + std::to_string(::getpid());
  const auto compare = [&](const std::string& out, const std::string& build) {
    return std::vector<std::string>{"compare",   "--ref-a",
                                    "HEAD~1",    "--ref-b",
                                    "HEAD",      "-S",
                                    "--build",   build,
                                    "--repeats", "2",
                                    "--set",     "profile.trials=0",
                                    "--out",     place.path(out).string(),
                                    "--",        "out/ledger",
                                    "1000"};
  };
  {
    Running run(place,
                compare("killed",
                        "sleep " + mark + " & touch " + place.path("building").string() + "; wait"),
                repository.path());
    ASSERT_TRUE(within(seconds(30), [&] { return fs::exists(place.path("building")); }));
    run.signal(SIGKILL);
    EXPECT_EQ(run.wait().status, 128 + SIGKILL);
  }
  EXPECT_FALSE(processes_with(mark).empty());
  EXPECT_EQ(repository.git("worktree list | wc -l"), "3");
  const Finished next =
      memduel(place, compare("next", ForeignRepository::quick_build()), repository.path());
  EXPECT_LE(next.status, 1) << next.err;
  EXPECT_THAT(next.err, AllOf(HasSubstr("ended the leftovers of a killed memduel"),
                              HasSubstr("removed the worktree of a killed memduel")));
  EXPECT_TRUE(within(seconds(30), [&] { return processes_with(mark).empty(); }));
  EXPECT_EQ(repository.git("worktree list | wc -l"), "1");
  EXPECT_FALSE(fs::exists(place.path("killed/worktrees")));
}

}  // namespace
}  // namespace memduel
