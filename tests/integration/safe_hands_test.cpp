// What memduel writes, how it dies, and what it does to the programs that it looks at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace fs = std::filesystem;

Finished shell(const Workplace& place, const std::string& command, const fs::path& directory = {}) {
  Running run(place, "/bin/sh", {"-c", command}, directory);
  return run.wait();
}

std::vector<fs::path> entries(const fs::path& directory) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory)) found.push_back(entry.path());
  return found;
}

// --- Writing files
// ----------------------------------------------------------------------------------

TEST(Writing, RecordSaysWhatItReplacesAndRemovesTheRestOfAnEarlierRecording) {
  const Workplace place;
  const std::string profile = place.path("p.mdp").string();
  ASSERT_EQ(
      memduel(place, {"record", "-o", profile, "--", "/bin/sh", "-c", "true; ls /; true"}).status,
      0);
  ASSERT_TRUE(fs::exists(place.path("p.2.mdp")));
  const std::string others = place.file("p.3.mdp", "a user's own notes");
  const Finished again = memduel(place, {"record", "-o", profile, "--", "/bin/ls", "/"});
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.err, AllOf(HasSubstr("replaced " + profile), HasSubstr("removed "),
                               HasSubstr("p.2.mdp of an earlier recording")));
  EXPECT_FALSE(fs::exists(place.path("p.2.mdp")));
  EXPECT_TRUE(fs::exists(others)) << "it is no profile";
}

TEST(Writing, ARecordingGoesThroughAPipeToWhomeverReadsIt) {
  const Workplace place;
  const std::string copy = place.path("copy.mdp").string();
  Running run(place, "/bin/bash",
              {"-c", "'" MEMDUEL_PROGRAM "' record -o >(cat > '" + copy +
                         "') -- /bin/sh -c 'ls /; ls /' && sleep 1"});
  const Finished recorded = run.wait();
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(recorded.err, HasSubstr("takes only one"));
  const Finished summary = memduel(place, {"summary", copy});
  EXPECT_EQ(summary.status, 0) << summary.err;
}

TEST(Writing, ADirectoryIsNoProfileWhichIsSaidBeforeTheCommandRuns) {
  const Workplace place;
  fs::create_directories(place.path("d"));
  const std::string ran = place.path("ran").string();
  for (const std::string& output : {place.path("d").string(), place.path("d").string() + "/"}) {
    const Finished record = memduel(place, {"record", "-o", output, "--", "touch", ran});
    EXPECT_EQ(record.status, 125);
    EXPECT_THAT(record.err, HasSubstr("found a directory"));
  }
  EXPECT_FALSE(fs::exists(ran));
}

TEST(Writing, WhatIsReadIsNotWrittenOver) {
  const Workplace place;
  const std::string profile = place.path("p.mdp").string();
  ASSERT_EQ(memduel(place, {"record", "--exact", "-o", profile, "--", "/bin/ls", "/"}).status, 0);
  const std::string before = read_file(profile);
  fs::create_symlink(profile, place.path("link"));
  fs::create_hard_link(profile, place.path("other-name"));
  for (const char* name : {"p.mdp", "link", "other-name"}) {
    const std::string output = place.path(name).string();
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"export", profile, "--format", "folded", "-o", output},
             {"flamegraph", profile, "-o", output},
             {"flamegraph", MEMDUEL_READERS_TESTDATA "/shapes.mdp", "--diff", profile, "-o",
              output}}) {
      const Finished run = memduel(place, words);
      EXPECT_EQ(run.status, 2) << testing::PrintToString(words);
      EXPECT_THAT(run.err, HasSubstr("cannot write over a file that this command reads"));
    }
  }
  EXPECT_EQ(read_file(profile), before);

  const std::string out = place.path("run").string();
  ASSERT_EQ(memduel(place, {"compare", "--calibrate", "--a", "true", "--b", "true", "--repeats",
                            "1", "--quiet", "--out", out})
                .status,
            0);
  const std::string results = read_file(out + "/results.json");
  const Finished check = memduel(place, {"check", out, "--junit", out + "/results.json"});
  EXPECT_EQ(check.status, 2) << check.err;
  EXPECT_EQ(read_file(out + "/results.json"), results);
}

TEST(Writing, AnEmptyNameIsNoDefault) {
  const Workplace place;
  const auto refused = [&](const std::vector<std::string>& words, int status,
                           const std::string& option) {
    const Finished run = memduel(place, words, place.path("."));
    EXPECT_EQ(run.status, status) << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr(option), HasSubstr("found empty text")));
  };
  refused({"record", "-o", "", "--", "/bin/true"}, 125, "--output");
  refused({"export", MEMDUEL_READERS_TESTDATA "/shapes.mdp", "--format", "folded", "-o", ""}, 2,
          "--output");
  refused({"flamegraph", MEMDUEL_READERS_TESTDATA "/shapes.mdp", "-o", ""}, 2, "--output");
  refused({"summary", ""}, 2, "PROFILE");
  refused({"compare", "--a", "true", "--b", ""}, 2, "--b");
  EXPECT_EQ(
      memduel(place, {"record", "-o", place.path("p.mdp").string(), "--", "/bin/echo", ""}).status,
      0)
      << "an argument of the command may be empty";
}

TEST(Writing, ARecordingThatCouldMakeNoProfileSaysSoAndCounts) {
  const Workplace place;
  fs::create_directories(place.path("full"));
  const std::string full = place.path("full").string();
  // Root, its folder, the workplace and one file: the counters, and no profile.
  const Finished run =
      shell(place, "unshare -m sh -c 'mount -t tmpfs -o nr_inodes=3 none " + full + " && \"" +
                       MEMDUEL_PROGRAM + "\" record -o " + full + "/p.mdp -- /bin/ls /usr'");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("1 of 1 process could not write a profile in " + full),
                             HasSubstr("counted /usr/bin/ls"), Not(HasSubstr("signal")),
                             Not(HasSubstr("peak 0 B"))));
}

TEST(Writing, AReaderThatHasSeenEnoughIsNoFailure) {
  const Workplace place;
  const Finished run = shell(place, "/bin/bash -c 'set -o pipefail; \"" MEMDUEL_PROGRAM
                                    "\" export " MEMDUEL_READERS_TESTDATA
                                    "/shapes.mdp --format folded | head -c 1'");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
}

TEST(Writing, AUsersFolderKeepsItsFilesAndGetsNoRun) {
  const Workplace place;
  fs::create_directories(place.path("mine"));
  const std::string page = place.file("mine/report.html", "mine");
  const Finished run = memduel(place, {"compare", "--a", "true", "--b", "true", "--calibrate",
                                       "--repeats", "1", "--out", place.path("mine").string()});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("report.html"));
  EXPECT_EQ(read_file(page), "mine");
  EXPECT_EQ(entries(place.path("mine")).size(), 1U);
  EXPECT_EQ(
      memduel(place, {"compare", "--a", "true", "--b", "true", "--calibrate", "--out", "/"}).status,
      2);
}

TEST(Writing, AnExperimentsNameCannotLeaveTheFolderOfRuns) {
  const Workplace place;
  fs::create_directories(place.path("deep/er"));
  const std::string config = place.file("duel.json", R"({ "name": "../../x",
    "workload": { "kind": "command", "processes": [ { "role": "r", "argv": ["true"] } ] },
    "variants": [ { "name": "a" }, { "name": "b", "env": { "B": "1" } } ], "baseline": "a",
    "measure": { "repeats": 1 } })");
  const Finished run =
      memduel(place, {"run", config, "--quiet", "--no-default-gates"}, place.path("deep/er"));
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(fs::is_empty(place.path("deep/er")));
  EXPECT_EQ(entries(place.path("state/memduel/runs")).size(), 1U);
  EXPECT_EQ(entries(place.path("deep")).size(), 1U);
}

TEST(Writing, WithoutAHomeNoCalibrationIsKeptInAFolderOfEverybodys) {
  const Workplace place;
  const Finished run = shell(place, "env -u HOME -u XDG_CACHE_HOME '" MEMDUEL_PROGRAM
                                    "' calibrate /none.json; "
                                    "env -u HOME -u XDG_CACHE_HOME '" MEMDUEL_PROGRAM
                                    "' compare --a true --b true "
                                    "--calibrate --repeats 1 --quiet --out '" +
                                        place.path("run").string() + "'");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_FALSE(fs::exists("/tmp/.cache/memduel"));
}

TEST(Writing, AHomeOfAnotherUserHoldsNoCalibrationForThisOne) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const Workplace place;
  const fs::path home = place.path("home");
  fs::create_directories(home);
  fs::permissions(home, fs::perms::owner_all);
  fs::permissions(place.path(""), fs::perms::all);
  const Finished run = shell(place, "HOME='" + home.string() +
                                        "' setpriv --reuid nobody --clear-groups '" MEMDUEL_PROGRAM
                                        "' compare --a true --b true --calibrate --repeats 1 "
                                        "--quiet --out '" +
                                        place.path("run").string() + "'");
  EXPECT_EQ(run.status, 0) << run.err;
}

// --- Text that others wrote
// -------------------------------------------------------------------------

TEST(ForeignText, AFailingJobsLastWordsMayBeNoUtf8) {
  const Workplace place;
  const std::string bad = place.file("bad.sh", "printf 'last \\377\\376 \\303' >&2\nexit 3\n");
  const Finished run = memduel(place, {"compare", "--a", "true", "--b", "sh " + bad, "--repeats",
                                       "2", "--out", place.path("run").string()});
  EXPECT_NE(run.status, 4) << run.err;
  const std::string failure = [&] {
    const auto results = results_in(place.path("run"));
    for (const auto& trial : results.at("trials"))
      if (trial.at("status") == "failed") return trial.at("failure").get<std::string>();
    return std::string();
  }();
  EXPECT_THAT(failure, HasSubstr("last \xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD"));
  EXPECT_TRUE(fs::exists(place.path("run/report.html")));
}

TEST(ForeignText, AnArgumentThatIsNoUtf8IsRefusedByItsNumber) {
  const Workplace place;
  const Finished run = memduel(place, {"compare", "--a", "true \xff", "--b", "true", "--repeats",
                                       "1", "--out", place.path("run").string()});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("argument 3"), HasSubstr("UTF-8")));
}

TEST(ForeignText, FunctionsNamesDoNotCommandTheTerminal) {
  const Workplace place;
  const std::string folded = place.file("evil.folded", "main;\x1b]0;owned\a;\x1b[31mred 1048576\n");
  const Finished summary = memduel(place, {"summary", folded});
  EXPECT_EQ(summary.status, 0) << summary.err;
  EXPECT_THAT(summary.out, AllOf(HasSubstr("red"), Not(HasSubstr("\x1b")), Not(HasSubstr("\a"))));
}

TEST(ForeignText, ResultsOfTwoRunsAreCompared) {
  const Workplace place;
  for (const char* name : {"one", "two"})
    ASSERT_EQ(memduel(place,
                      {"compare", "--a", MEMDUEL_HOG " 20", "--b", MEMDUEL_HOG " 20", "--calibrate",
                       "--repeats", "6", "--quiet", "--out", place.path(name).string()})
                  .status,
              0);
  const Finished run = memduel(
      place, {"compare", place.path("one/results.json").string(),
              place.path("two/results.json").string(), "--out", place.path("both").string()});
  EXPECT_LE(run.status, 1) << run.err;
  EXPECT_FALSE(comparison(results_in(place.path("both")), "command", "peak_rss_bytes").is_null());
}

// --- Inputs without bounds
// --------------------------------------------------------------------------

TEST(Bounds, DeepJsonIsRefused) {
  const Workplace place;
  const std::string deep =
      place.file("deep.json", std::string(200'000, '[') + std::string(200'000, ']'));
  EXPECT_EQ(memduel(place, {"run", deep}).status, 2);
  const Finished compare = memduel(place, {"compare", deep, deep});
  EXPECT_EQ(compare.status, 4);
  EXPECT_THAT(compare.err, HasSubstr("deep"));
  EXPECT_EQ(memduel(place, {"summary", deep}).status, 4);
}

std::string job_with(const std::string& members) {
  return R"({ "name": "job", "workload": { "kind": "command", "processes":
    [ { "role": "r", "argv": ["true"] } ])" +
         members + R"( }, "variants": [ { "name": "a" }, { "name": "b", "env": { "B": "1" } } ],
    "baseline": "a", "measure": { "repeats": 1 } })";
}

TEST(Bounds, ATemplateThatNeverEndsAndPortsWithoutNumberAreRefused) {
  const Workplace place;
  const std::string endless =
      place.file("endless.json",
                 job_with(R"(, "templates": [ { "from": "/dev/zero", "to": "{trial_dir}/x" } ])"));
  Finished run = shell(place, "ulimit -v 4000000; '" MEMDUEL_PROGRAM "' run '" + endless +
                                  "' --out '" + place.path("run").string() + "'");
  EXPECT_THAT(run.err, AllOf(HasSubstr("/dev/zero"), HasSubstr("more than")));
  std::string ports;
  for (int i = 0; i < 40'000; ++i) ports += "{port:p" + std::to_string(i) + "}\n";
  ASSERT_FALSE(place.file("ports.in", ports).empty());
  const std::string many = place.file(
      "many.json", job_with(R"(, "templates": [ { "from": "ports.in", "to": "{trial_dir}/x" } ])"));
  const auto begin = steady_clock::now();
  run = memduel(place, {"run", many, "--out", place.path("run2").string()});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("256 others"));
  EXPECT_LT(steady_clock::now() - begin, seconds(60));
}

TEST(Bounds, AFileTooLargeForAConfigIsNotRead) {
  const Workplace place;
  const std::string large = place.file("large.json", "");
  fs::resize_file(large, std::uintmax_t{20} << 30);
  const auto begin = steady_clock::now();
  for (const char* verb : {"run", "compare"}) {
    const Finished run = verb == std::string("run")
                             ? memduel(place, {verb, large, "--out", place.path("run").string()})
                             : memduel(place, {verb, large, large});
    EXPECT_EQ(run.status, 4) << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr("large.json"), HasSubstr("more than 268435456 bytes")));
  }
  EXPECT_LT(steady_clock::now() - begin, seconds(5));
}

TEST(Bounds, ANumberTooLargeForAConfigIsNamedWithItsPlace) {
  const Workplace place;
  const Finished run = memduel(place, {"run", place.file("c.json", "{\n \"name\": 1e999 }")});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("c.json, line 2, column "),
                             HasSubstr("not valid JSON: number overflow parsing '1e999'"),
                             Not(HasSubstr("json.exception"))));
}

TEST(Bounds, ACurrentDirectoryThatIsGoneIsNamed) {
  const Workplace place;
  const Finished run = shell(place, "mkdir '" + place.path("gone").string() + "' && cd '" +
                                        place.path("gone").string() +
                                        "' && rmdir ../gone && '" MEMDUEL_PROGRAM
                                        "' compare --a true --b true --calibrate --repeats 1");
  EXPECT_EQ(run.status, 4);
  EXPECT_THAT(run.err, HasSubstr("the current directory: No such file or directory"));
}

TEST(Bounds, AMachineWithoutProcIsNamed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can hide /proc";
  const Workplace place;
  const std::string job = place.path("job").string();
  const Finished run =
      shell(place, "unshare -m sh -c 'mount -t tmpfs none /proc && exec \"" MEMDUEL_PROGRAM
                   "\" compare --a \"touch " +
                       job + "\" --b true --calibrate --repeats 1 --out " +
                       place.path("run").string() + "'");
  EXPECT_EQ(run.status, 4) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("/proc/self/exe"), HasSubstr("mount /proc: memduel finds")));
  EXPECT_FALSE(fs::exists(job));
  EXPECT_FALSE(fs::exists(place.path("run")));
}

TEST(Bounds, ASmallStackIsNamed) {
  const Workplace place;
  const Finished run = shell(place, "ulimit -s 64; '" MEMDUEL_PROGRAM
                                    "' compare --a true --b true --calibrate --repeats 1 --out '" +
                                        place.path("run").string() + "'");
  EXPECT_EQ(run.status, 3) << run.err;
  EXPECT_THAT(run.err, HasSubstr("the limit of the stack is 64.0 KiB, expected 256.0 KiB or more"));
}

TEST(Bounds, LittleMemoryIsNamed) {
  const Workplace place;
  const std::string large = place.file("c.json", "");
  fs::resize_file(large, std::uintmax_t{200} << 20);
  const Finished run = shell(place, "ulimit -v 150000; '" MEMDUEL_PROGRAM "' run " + large);
  EXPECT_EQ(run.status, 4) << run.err;
  EXPECT_THAT(run.err, HasSubstr("ulimit -v"));
}

TEST(Bounds, AKeyGivenTwiceAndASeedThatIsTooLargeAreNamed) {
  const Workplace place;
  std::string text = job_with("");
  text.insert(text.rfind('}'), ",\n\"baseline\": \"b\"");
  Finished run = memduel(place, {"run", place.file("twice.json", text)});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("\"baseline\" twice, in line"));
  run = memduel(place, {"run", place.file("seed.json", job_with("")), "--set",
                        "workload.seed=18446744073709551615"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(
      run.err,
      HasSubstr("expected an integer from 0 to 9007199254740991, found 18446744073709551615"));
}

TEST(Bounds, FewDescriptorsAndShortFilesGetAMessage) {
  const Workplace place;
  const std::string compare = "'" MEMDUEL_PROGRAM
                              "' compare --a true --b true --calibrate --repeats 1 --out '" +
                              place.path("run").string() + "'";
  Finished run = shell(place, "ulimit -n 64; " + compare);
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, AllOf(HasSubstr("64"), HasSubstr("ulimit -n")));
  run = shell(place, "ulimit -f 8; " + compare);
  EXPECT_THAT(run.status, testing::AnyOf(3, 4)) << run.err;
  EXPECT_THAT(run.err, Not(IsEmpty()));
}

TEST(Bounds, AnArgumentThatIsTooLongIsNotRepeatedWhole) {
  const Workplace place;
  const std::string config = place.file(
      "long.json",
      R"({ "name": "job", "workload": { "kind": "command", "processes":
    [ { "role": "r", "argv": ["true", ")" +
          std::string(140'000, 'x') +
          R"("] } ] }, "variants": [ { "name": "a" }, { "name": "b", "env": { "B": "1" } } ],
    "baseline": "a", "measure": { "repeats": 1 } })");
  const Finished run = memduel(place, {"run", config, "--out", place.path("run").string()});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("rgument list too long"));
  EXPECT_LT(run.err.size(), 4000U);
}

// --- Dying
// ------------------------------------------------------------------------------------------

std::string job_with_cleanup(const Workplace& place, const std::string& cleanup) {
  return place.file("job.json", R"({ "name": "job", "workload": { "kind": "command", "processes":
    [ { "role": "r", "argv": [")" MEMDUEL_ACT R"(", "file", ")" +
                                    place.path("up").string() +
                                    R"(", "sleep", "60000"] } ],
    "cleanup": [ [ "/bin/sh", "-c", ")" +
                                    cleanup + R"(" ] ] },
    "variants": [ { "name": "a" }, { "name": "b", "env": { "B": "1" } } ],
    "baseline": "a", "measure": { "repeats": 1 } })");
}

TEST(Dying, AClosedTerminalCleansUpAsATerminationDoes) {
  const Workplace place;
  const std::string config = job_with_cleanup(place, "touch " + place.path("cleaned").string());
  Running run(place, {"run", config, "--out", place.path("run").string(), "--quiet"});
  ASSERT_TRUE(within(seconds(30), [&] { return fs::exists(place.path("up")); }));
  run.signal(SIGHUP);
  EXPECT_EQ(run.wait().status, 143);
  EXPECT_TRUE(fs::exists(place.path("cleaned")));
}

TEST(Dying, ASecondInterruptDoesNotWaitForTheCleanup) {
  const Workplace place;
  const std::string config =
      job_with_cleanup(place, "touch " + place.path("cleaning").string() + "; sleep 50");
  Running run(place, {"run", config, "--out", place.path("run").string(), "--quiet"});
  ASSERT_TRUE(within(seconds(30), [&] { return fs::exists(place.path("up")); }));
  run.signal(SIGINT);
  ASSERT_TRUE(within(seconds(30), [&] { return fs::exists(place.path("cleaning")); }));
  const auto begin = steady_clock::now();
  run.signal(SIGINT);
  EXPECT_EQ(run.wait().status, 130);
  EXPECT_LT(steady_clock::now() - begin, seconds(15));
}

TEST(Dying, ARunHandsSignalsToTheProcessesThatHandleThem) {
  const Workplace place;
  const std::string handler = place.file(
      "handler.py",
      "import pathlib, signal, sys, time\n"
      "def note(number, frame): open(sys.argv[1], 'a').write(f'{number}\\n')\n"
      "signal.signal(signal.SIGUSR1, note)\nsignal.signal(signal.SIGUSR2, note)\n"
      "pathlib.Path(sys.argv[2]).touch()\n"
      "while len(pathlib.Path(sys.argv[1]).read_text().split()) < 2: time.sleep(0.01)\n");
  const std::string noted = place.file("noted", "");
  const std::string config = place.file(
      "job.json",
      nlohmann::json(
          {{"name", "signals"},
           {"workload",
            {{"kind", "command"},
             {"processes",
              {{{"role", "handler"},
                {"argv", {"python3", handler, noted, place.path("up").string()}}},
               {{"role", "other"}, {"argv", {"sleep", "1"}}}}}}},
           {"variants", {{{"name", "one"}}, {{"name", "two"}, {"env", {{"OTHER", "1"}}}}}},
           {"baseline", "one"},
           {"measure", {{"repeats", 1}, {"warmups", 0}}},
           {"profile", {{"trials", 0}}}})
          .dump());
  Running run(place,
              {"run", config, "--on-inconclusive", "pass", "--out", place.path("run").string()});
  ASSERT_TRUE(within(seconds(30), [&] { return fs::exists(place.path("up")); }));
  run.signal(SIGUSR1);
  ASSERT_TRUE(
      within(seconds(10), [&] { return read_file(noted) == std::to_string(SIGUSR1) + "\n"; }));
  run.signal(SIGUSR2);
  const Finished done = run.wait();
  EXPECT_EQ(done.status, 0) << done.err << done.out;
  EXPECT_EQ(read_file(noted), std::to_string(SIGUSR1) + "\n" + std::to_string(SIGUSR2) + "\n");
}

TEST(Dying, RecordHandsSignalsToItsCommandAndFinishesTheProfile) {
  for (const int number : {SIGHUP, SIGTERM, SIGUSR1, SIGUSR2}) {
    const Workplace place;
    const std::string profile = place.path("p.mdp").string();
    Running run(place, {"record", "-o", profile, "--", MEMDUEL_ACT, "file",
                        place.path("up").string(), "sleep", "60000"});
    ASSERT_TRUE(within(seconds(30), [&] { return fs::exists(place.path("up")); }));
    run.signal(SIGQUIT);  // of a terminal, which sends it to the command as well
    run.signal(number);
    EXPECT_EQ(run.wait().status, 128 + number);
    EXPECT_TRUE(fs::exists(profile)) << number;
    for (const fs::path& entry : entries(place.path("")))
      EXPECT_THAT(entry.filename().string(), Not(HasSubstr(".memduel-record")));
  }
}

TEST(Dying, WhatAKilledRecordingLeavesIsSaid) {
  const Workplace place;
  const fs::path here = place.path("here");
  fs::create_directories(here);
  Running killed(place, MEMDUEL_PROGRAM,
                 {"record", "--", MEMDUEL_ACT, "file", place.path("up").string(), "sleep", "1500"},
                 here);
  ASSERT_TRUE(within(seconds(30), [&] { return fs::exists(place.path("up")); }));
  const Finished beside =
      Running(place, MEMDUEL_PROGRAM, {"record", "-o", "b.mdp", "--", "/bin/true"}, here).wait();
  EXPECT_THAT(beside.err, Not(HasSubstr("was killed"))) << "the first goes on";
  killed.signal(SIGKILL);
  killed.wait();
  const Finished next =
      Running(place, MEMDUEL_PROGRAM, {"record", "-o", "c.mdp", "--", "/bin/true"}, here).wait();
  EXPECT_EQ(next.status, 0);
  EXPECT_THAT(next.err, AllOf(HasSubstr(".memduel-record-"),
                              HasSubstr("is left over from a recording that was killed")));
  EXPECT_THAT(Running(place, MEMDUEL_PROGRAM, {"doctor"}, here).wait().out,
              HasSubstr("1 recording that was killed: ./.memduel-record-"));
}

// --- Programs that recording breaks
// -----------------------------------------------------------------

std::string limitations_of(const fs::path& run) {
  return results_in(run).at("limitations").dump();
}

// Two versions in one prefix, as an update that was broken off leaves them.
TEST(Unrecordable, ARecorderOfAnotherVersionIsNamedInOneSentence) {
  const Workplace place;
  fs::create_directories(place.path("prefix/bin"));
  fs::create_directories(place.path("prefix/lib/memduel"));
  const fs::path program = place.path("prefix/bin/memduel");
  fs::copy_file(MEMDUEL_PROGRAM, program);
  std::string library =
      read_file(fs::path(MEMDUEL_PROGRAM).parent_path() / "../lib/libmemduel_recorder.so");
  const std::size_t version = library.find("MDHEAP03");
  ASSERT_NE(version, std::string::npos);
  library.replace(version, 8, "MDHEAP00");
  write_file_atomically(place.path("prefix/lib/memduel/libmemduel_recorder.so"), library);
  const Finished run = shell(place, program.string() + " record -o " +
                                        place.path("p.mdp").string() + " -- sort /etc/services");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("expected counters MDHEAP03, found MDHEAP00"),
                             HasSubstr("written by another version of the recorder"),
                             Not(HasSubstr("never started"))));
}

TEST(Unrecordable, AFilterOfSystemCallsIsMeasuredWithoutTheRecorder) {
  const Workplace place;
  const Finished run =
      memduel(place, {"compare", "--a", MEMDUEL_FILTERS_CALLS, "--b", MEMDUEL_FILTERS_CALLS,
                      "--calibrate", "--repeats", "2", "--out", place.path("run").string()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(limitations_of(place.path("run")), HasSubstr("seccomp"));
}

TEST(Unrecordable, AProgramWithAnEnvironmentOfItsOwnIsSaid) {
  const Workplace place;
  const std::string profile = place.path("p.mdp").string();
  Finished run = memduel(
      place, {"record", "-o", profile, "--", "env", "-i", "/usr/bin/sort", "/etc/services"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err, HasSubstr("started another program with its own environment, as env "
                                 "-i does: that program was not recorded"));
  run = memduel(place,
                {"record", "-o", profile, "--", "env", "A=1", "/usr/bin/sort", "/etc/services"});
  EXPECT_THAT(run.err, AllOf(HasSubstr("/sort ["), Not(HasSubstr("not recorded"))));
  run = memduel(place, {"record", "--alone", "-o", profile, "--", "env", "-i", "/bin/true"});
  EXPECT_THAT(run.err, Not(HasSubstr("not recorded"))) << "nothing else was asked for";
}

TEST(Unrecordable, AProgramOfAnotherUsersIsRecordedOrSaidNotToBe) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const Workplace place;
  fs::permissions(place.path(""), fs::perms::all);
  const std::vector<std::string> as_nobody = {
      "/usr/bin/python3", "-S", "-c",
      "import os; os.setgroups([]); os.setuid(65534); os.execv('/usr/bin/sort', ['sort'])"};
  const auto record_to = [&](const fs::path& profile) {
    std::vector<std::string> words = {"record", "-o", profile.string(), "--"};
    words.insert(words.end(), as_nobody.begin(), as_nobody.end());
    return memduel(place, words);
  };
  Finished run = record_to(place.path("p.mdp"));
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err, AllOf(HasSubstr("/sort ["), Not(HasSubstr("not recorded"))));
  const fs::path closed = place.path("closed");
  fs::create_directories(closed);
  fs::permissions(closed, fs::perms::owner_all);
  run = record_to(closed / "p.mdp");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err, AllOf(HasSubstr("as a user who may not write to"),
                             HasSubstr("that program was not recorded")));
}

TEST(Unrecordable, AScriptWithoutItsInterpreterIsNamed) {
  const Workplace place;
  const std::string script = place.file("script", "#!/nonexistent/python9\n");
  fs::permissions(script, fs::perms::all);
  const std::string why = "its first line names the interpreter /nonexistent/python9";
  EXPECT_THAT(memduel(place, {"record", "--", script}).err, HasSubstr(why));
  const std::string watched = place.path("watched").string();
  EXPECT_THAT(memduel(place, {"watch", "--out", watched, "--", script}).err, HasSubstr(why));
  EXPECT_THAT(memduel(place, {"compare", "--a", script, "--b", script, "--calibrate", "--out",
                              place.path("run").string()})
                  .err,
              HasSubstr(why));
}

TEST(Unrecordable, ASanitizersProgramBehindAShellIsMeasuredWithoutTheRecorder) {
  const Workplace place;
  const std::string script = place.file("job.sh", MEMDUEL_SANITIZED " 1; exit $?\n");
  const Finished run =
      memduel(place, {"compare", "--a", "sh " + script, "--b", "sh " + script, "--calibrate",
                      "--repeats", "2", "--out", place.path("run").string()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(limitations_of(place.path("run")), HasSubstr("sanitizer"));
}

// --- Numbers
// --------------------------------------------------------------------------------------

TEST(Numbers, OfTheCommandLineAreFinite) {
  const Workplace place;
  const auto refused = [&](const char* option, const char* value) {
    const Finished run = memduel(place, {"compare", "--a", "true", "--b", "true 1", option, value,
                                         "--out", place.path("run").string()});
    EXPECT_EQ(run.status, 2) << option << ' ' << value;
    EXPECT_LT(run.err.size(), 200U) << run.err;
    return run.err;
  };
  EXPECT_THAT(refused("--max-minutes", "nan"), HasSubstr("found \"nan\""));
  EXPECT_THAT(refused("--max-minutes", "0"),
              HasSubstr("expected a number from 0.001 to 1e+06, found \"0\""));
  EXPECT_THAT(refused("--repeats", "0"),
              HasSubstr("expected a number from 1 to 10000, found \"0\""));
}

// --- Names
// --------------------------------------------------------------------------------------

TEST(Names, OfFilesCommandNoTerminal) {
  const Workplace place;
  const std::string profile = place.path("p\x1b[31m.mdp").string();
  const Finished record = memduel(place, {"record", "-o", profile, "--", "true"});
  EXPECT_EQ(record.status, 0) << record.err;
  EXPECT_THAT(record.err, AllOf(HasSubstr(".mdp"), Not(HasSubstr("\x1b"))));
  const std::string out = place.path("o\x1b[31mut").string();
  const Finished run =
      memduel(place, {"compare", "--a", "true", "--b", "true 1", "--repeats", "1", "--out", out});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out + run.err, AllOf(HasSubstr("report.html"), Not(HasSubstr("\x1b"))));
  EXPECT_TRUE(std::filesystem::exists(profile)) << "the file has the name that was asked for";
}

// --- Long runs
// --------------------------------------------------------------------------------------

// Two arms, a warm-up and a block each: 40,000 rounds with their phases.
TEST(LongRuns, TenThousandRoundsFitIntoAHundredMebibytes) {
  const Workplace place;
  const std::string out = place.path("run").string();
  const Finished run = memduel(
      place, {"compare", "--a", MEMDUEL_ACT " idle rounds 10000", "--b",
              MEMDUEL_ACT " idle rounds 10000 sleep 1", "--repeats", "1", "--quiet", "--out", out});
  EXPECT_LE(run.status, 1) << run.err;
  EXPECT_LT(run.peak_rss_bytes, 100 << 20);
  const Finished report = memduel(place, {"report", out});
  EXPECT_EQ(report.status, 0) << report.err;
  EXPECT_LT(report.peak_rss_bytes, 100 << 20);
  EXPECT_EQ(results_in(place.path("run")).at("trials").at(3).at("roles").at(0).at("rounds").size(),
            10'000U);
}

}  // namespace
}  // namespace memduel
