// What a hostile try could not break, kept that way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <sstream>

#include "support/memduel_program.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

Finished shell(const Workplace& place, const std::string& command) {
  Running run(place, "/bin/sh", {"-c", command});
  return run.wait();
}

std::string duel(const Workplace& place, const std::string& out) {
  return "'" MEMDUEL_PROGRAM "' compare --calibrate --repeats 1 --quiet --a true --b true --out '" +
         place.path(out).string() + "'";
}

TEST(Held, FilesAreReadableAsTheUsersMaskSays) {
  const Workplace place;
  const auto count = [&](const std::string& folder, fs::perms wanted, fs::perms forbidden) {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(place.path(folder))) {
      const fs::perms mode = entry.status().permissions();
      const bool file = entry.is_regular_file();
      EXPECT_EQ(mode & forbidden, fs::perms::none) << entry.path();
      if (!file) continue;
      EXPECT_EQ(mode & wanted, wanted) << entry.path();
      ++files;
    }
    return files;
  };
  ASSERT_EQ(shell(place, "umask 022; " + duel(place, "shared")).status, 0);
  EXPECT_GE(count("shared", fs::perms::group_read | fs::perms::others_read,
                  fs::perms::group_write | fs::perms::others_write),
            4);
  ASSERT_EQ(shell(place, "umask 077; " + duel(place, "own")).status, 0);
  EXPECT_GE(count("own", fs::perms::owner_read, fs::perms::group_all | fs::perms::others_all), 4);
}

TEST(Held, OddSettingsAreRefusedWithTheirPlace) {
  const Workplace place;
  const std::string config = place.file("duel.json", R"({
    "name": "duel", "workload": { "kind": "command", "processes": [
      { "role": "command", "argv": ["true"] } ] },
    "variants": [ { "name": "a" }, { "name": "b", "argv": { "command": ["true", "x"] } } ],
    "baseline": "a" })");
  for (const char* setting :
       {"=1", "a..b=1", ".=1", "measure", "measure=3", "measure.repeats=-1",
        "measure.repeats=1e999", "measure.repeats=[", "variants.999999.name=x",
        "variants.-1.name=x", "workload.kind=null"}) {
    const Finished run =
        memduel(place, {"run", config, "--out", place.path("run").string(), "--set", setting});
    EXPECT_EQ(run.status, 2) << setting << ": " << run.err;
    EXPECT_THAT(run.err, HasSubstr("memduel: ")) << setting;
    EXPECT_THAT(run.err, Not(HasSubstr("json.exception"))) << setting;
  }
  EXPECT_FALSE(fs::exists(place.path("run")));
}

TEST(Held, OddOutputDirectoriesAreRefused) {
  const Workplace place;
  const std::string taken = place.file("taken", "a file");
  for (const std::string& out :
       {taken, taken + "/below", std::string(), place.path(std::string(300, 'x')).string(),
        std::string("/proc/nowhere/run")}) {
    const Finished run = memduel(place, {"compare", "--calibrate", "--repeats", "1", "--a", "true",
                                         "--b", "true", "--out", out});
    EXPECT_THAT(run.status, testing::AnyOf(2, 4)) << out << ": " << run.err;
    EXPECT_THAT(run.err, HasSubstr("memduel: ")) << out;
  }
}

TEST(Held, AJobWithAnotherClockIsWarnedOfAndMemduelBelowOneIsNotConfused) {
  const Workplace place;
  const std::string job =
      "--a 'faketime -f \"+1000d x5\" " MEMDUEL_ACT
      " idle round 1 sleep 0.2 end 1' --b '" MEMDUEL_ACT " idle round 1 sleep 0.2 end 1'";
  const Finished run = shell(place, "'" MEMDUEL_PROGRAM "' compare --repeats 1 --out '" +
                                        place.path("job").string() + "' " + job);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(results_in(place.path("job")).at("warnings").dump(), HasSubstr("clock_of_role"));
  const Finished fast = shell(place, "faketime -f '+0 x100' " + duel(place, "fast"));
  EXPECT_EQ(fast.status, 0) << fast.err;
  for (const auto& trial : results_in(place.path("fast")).at("trials"))
    EXPECT_EQ(trial.at("status"), "ok");
}

// 30 MiB in blocks that a signal finds allocated; the counters page outlives the program.
TEST(Killed, AProgramsCountersAreThoseOfItsEnd) {
  const Workplace place;
  for (const char* signal : {"TERM", "SEGV", "KILL"}) {
    const std::string profile = place.path(std::string(signal) + ".mdp").string();
    const Finished record = shell(place, "'" MEMDUEL_PROGRAM "' record -o '" + profile +
                                             "' -- /usr/bin/python3 -c 'import os, signal; kept = "
                                             "[bytes(3000) for _ in range(10000)]; "
                                             "os.kill(os.getpid(), signal.SIG" +
                                             signal + ")'");
    EXPECT_GT(record.status, 128) << record.err;
    EXPECT_THAT(record.err, HasSubstr("ended abruptly"));
    const auto counters = profile_in(place, profile).at("counters");
    EXPECT_GE(counters.at("peak_bytes").get<double>(), 30e6) << signal;
    EXPECT_LE(counters.at("peak_bytes").get<double>(), 40e6) << signal;
    EXPECT_THAT(memduel(place, {"summary", profile}).out,
                AllOf(HasSubstr("exact within 64.0 KiB"), Not(HasSubstr("0 B in 0 allocations"))));
  }
}

/// Twenty blocks of 10 MB, one each 50 ms, and a signal without warning.
TEST(Killed, AServersStacksAreThereButForTheLastMoment) {
  const Workplace place;
  const std::string profile = place.path("server.mdp").string();
  const Finished record =
      shell(place, "'" MEMDUEL_PROGRAM "' record -o '" + profile +
                       "' -- /usr/bin/python3 -c 'import os, signal, time\n"
                       "kept = []\n"
                       "for _ in range(20): kept.append(bytes(10_000_000)); time.sleep(0.05)\n"
                       "os.kill(os.getpid(), signal.SIGKILL)'");
  EXPECT_EQ(record.status, 128 + SIGKILL) << record.err;
  const Finished exported = memduel(place, {"export", profile, "--format", "folded"});
  double bytes = 0;
  std::istringstream lines(exported.out);
  for (std::string line; std::getline(lines, line);)
    bytes += std::stod(line.substr(line.rfind(' ') + 1));
  EXPECT_GE(bytes, 120e6) << "a quarter of a second holds five blocks";
  EXPECT_LE(bytes, 210e6);
}

}  // namespace
}  // namespace memduel
