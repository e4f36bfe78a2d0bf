// What is left when memduel or its trials end before their time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <thread>

#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::IsEmpty;

namespace fs = std::filesystem;

void wait_for_file(const fs::path& path) {
  ASSERT_TRUE(within(std::chrono::seconds(30), [&] { return fs::exists(path); })) << path;
}

/// Whether processes with `text` in their command lines end.
bool all_gone(const std::string& text) {
  return within(std::chrono::seconds(30), [&] { return processes_with(text).empty(); });
}

/// Arms that leave a daemon behind; `mark` makes their command lines findable.
std::vector<std::string> long_duel(const Workplace& place, const std::string& mark) {
  const std::string daemon =
      MEMDUEL_ACT " print " + mark + " daemonise " + place.path("daemon").string() + " sleep ";
  return {"compare", "--a",   daemon + "400",    "--b",    daemon + "401", "--repeats",
          "3",       "--out", place.path("run"), "--quiet"};
}

std::vector<std::string> resumed(std::vector<std::string> words) {
  words.emplace_back("--resume");
  return words;
}

void expect_every_trial_once(const nlohmann::json& results) {
  std::multiset<std::pair<int, std::string>> places;
  for (const auto& trial : results.at("trials")) {
    EXPECT_EQ(trial.at("status"), "ok");
    places.emplace(trial.at("block").get<int>(), trial.at("variant").get<std::string>());
  }
  std::multiset<std::pair<int, std::string>> expected;
  for (const int block : {0, 1, 2, 3})
    for (const char* arm : {"a", "b"}) expected.emplace(block, arm);
  EXPECT_EQ(places, expected);
}

TEST(Interruption, KillLeavesNoProcessAndTheRunCanBeResumed) {
  const Workplace place;
  const std::string mark = "killed-" + std::to_string(::getpid());
  const auto words = long_duel(place, mark);
  {
    Running run(place, words);
    wait_for_file(place.path("daemon"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    run.signal(SIGKILL);
    EXPECT_EQ(run.wait().status, 128 + SIGKILL);
  }
  EXPECT_TRUE(all_gone(mark)) << processes_with(mark).size() << " processes are left";
  EXPECT_TRUE(all_gone("memduel-launcher" + std::string(1, '\0') + place.path("run").string()));
  EXPECT_FALSE(fs::exists(place.path("run") / "results.json"));

  const Finished again = memduel(place, resumed(words));
  EXPECT_EQ(again.status, 0) << again.err;
  expect_every_trial_once(results_in(place.path("run")));
}

TEST(Interruption, ATrialThatDaemonisesLeavesNoProcess) {
  const Workplace place;
  const std::string mark = "daemon-" + std::to_string(::getpid());
  const Finished run = memduel(place, long_duel(place, mark));
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(processes_with(mark), IsEmpty());
}

TEST(Interruption, SignalsEndARunWithTheirStatusAndKeepItsTrials) {
  for (const int number : {SIGINT, SIGTERM}) {
    const Workplace place;
    const std::string mark = "stopped-" + std::to_string(number) + "-" + std::to_string(::getpid());
    const auto words = long_duel(place, mark);
    Running run(place, words);
    wait_for_file(place.path("daemon"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    run.signal(number);
    EXPECT_EQ(run.wait().status, 128 + number);
    EXPECT_TRUE(all_gone(mark));
    EXPECT_EQ(memduel(place, resumed(words)).status, 0);
    expect_every_trial_once(results_in(place.path("run")));
  }
}

TEST(Interruption, ASecondMemduelIsKeptOut) {
  const Workplace place;
  const auto words = long_duel(place, "locked-" + std::to_string(::getpid()));
  Running first(place, words);
  wait_for_file(place.path("daemon"));
  const Finished second = memduel(place, resumed(words));
  EXPECT_EQ(second.status, 2);
  EXPECT_THAT(second.err, testing::HasSubstr("another memduel"));
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait().status, 128 + SIGTERM);
}

}  // namespace
}  // namespace memduel
