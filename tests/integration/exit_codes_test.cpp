// Every documented exit code, from the real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "support/memduel_program.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

std::string hog(const std::string& mib) {
  return MEMDUEL_HOG " " + mib;
}

/// compare --a A --b B and more.
Finished duel(const Workplace& place, const std::string& a, const std::string& b,
              std::vector<std::string> more) {
  std::vector<std::string> words = {"compare", "--a", a, "--b", b, "--out", place.path("run")};
  words.insert(words.end(), more.begin(), more.end());
  return memduel(place, words);
}

TEST(ExitCode, IsZeroWhenNoGateFails) {
  const Workplace place;
  const Finished run = duel(place, hog("40"), hog("20"), {"--repeats", "8"});
  EXPECT_EQ(run.status, 0) << run.err;
  const auto row = comparison(results_in(place.path("run")), "all", "peak_rss_bytes");
  EXPECT_EQ(row.at("verdict"), "improved");
  EXPECT_NEAR(row.at("candidate_median").get<double>() - row.at("baseline_median").get<double>(),
              -20.0 * 1048576, 1048576);
  EXPECT_THAT(run.out, HasSubstr("improved"));
  EXPECT_TRUE(fs::exists(place.path("run") / "report.html"));
}

TEST(ExitCode, IsOneWhenAGateFails) {
  const Workplace place;
  const Finished run = duel(place, hog("20"), hog("40"), {"--repeats", "8", "--gate", "default"});
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_EQ(comparison(results_in(place.path("run")), "all", "peak_rss_bytes").at("verdict"),
            "regressed");
}

TEST(ExitCode, IsOneWhenTheCandidateCrashesAndTheBaselineLives) {
  const Workplace place;
  const Finished run = duel(place, hog("20"), MEMDUEL_ACT " complain last-words raise 11",
                            {"--repeats", "5", "--gate", "default"});
  EXPECT_EQ(run.status, 1) << run.err;
  const auto results = results_in(place.path("run"));
  for (const auto& trial : results.at("trials"))
    EXPECT_EQ(trial.at("status"), trial.at("variant") == "a" ? "ok" : "failed");
  EXPECT_EQ(results.at("gates").at(0).at("outcome"), "failed");
}

TEST(ExitCode, IsTwoWhenTheTimeIsTooShortForAVerdict) {
  const Workplace place;
  const std::string slow = MEMDUEL_ACT " sleep 500";
  const Finished run = duel(place, slow, slow + " sleep 1", {"--max-minutes", "0.02"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("found 0.02"), HasSubstr("a decision needs 6 trials each"),
                             ContainsRegex("\n  memduel compare .* --max-minutes [0-9.]+ --out .* "
                                           "--resume\n")));
  const Finished resumed = duel(place, slow, slow + " sleep 1", {"--max-minutes", "1", "--resume"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
}

TEST(ExitCode, IsThreeWhenTheCandidateCrashesAndNoGateIsNamed) {
  const Workplace place;
  EXPECT_EQ(duel(place, "true", "false", {"--repeats", "2"}).status, 3);
}

TEST(ExitCode, IsThreeWhenTheBaselineCrashes) {
  const Workplace place;
  const Finished run =
      duel(place, MEMDUEL_ACT " complain last-words raise 11", hog("20"), {"--repeats", "5"});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, AllOf(HasSubstr("the baseline a failed"), HasSubstr("signal 11"),
                             HasSubstr("last-words")));
}

TEST(ExitCode, IsThreeWhenARoleNeverGetsReady) {
  const Workplace place;
  const std::string config = place.file("never.json", R"({
    "name": "never", "workload": { "kind": "command", "processes": [
      { "role": "server", "argv": [")" MEMDUEL_ACT R"(", "sleep", "30000"],
        "ready": { "file": "{trial_dir}/never", "within_seconds": 0.3 }, "end": "stop" },
      { "role": "client", "after": ["server"], "argv": [")" MEMDUEL_ACT R"(", "sleep", "1"] } ] },
    "variants": [ { "name": "a" }, { "name": "b", "env": { "X": "1" } } ], "baseline": "a",
    "measure": { "repeats": 5 } })");
  const Finished run = memduel(place, {"run", config, "--out", place.path("run")});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, AllOf(HasSubstr("server"), HasSubstr("ready")));
}

TEST(ExitCode, IsThreeWhenAGateAsksForWhatNoMeterGave) {
  const Workplace place;
  const Finished run = duel(place, hog("20"), hog("21"),
                            {"--repeats", "5", "--gate", "all.peak_gpu_reserved_bytes<=+1%"});
  EXPECT_EQ(run.status, 3) << run.out << run.err;
}

TEST(ExitCode, OfAnInconclusiveGateIsFiveIfItCounts) {
  const Workplace place;
  const std::string gate = "all.peak_rss_bytes<=+2%";
  EXPECT_EQ(duel(place, hog("20"), hog("40"), {"--repeats", "3", "--gate", gate}).status, 5)
      << "twice as much lies beyond the bound";
  const auto check = [&](const std::string& word, const std::string& other) {
    return memduel(place, {"check", place.path("run"), "--on-inconclusive", word, "--gate", other});
  };
  EXPECT_EQ(check("pass", gate).status, 0);
  EXPECT_EQ(check("beyond", gate).status, 5);
  EXPECT_EQ(check("beyond", "all.peak_rss_bytes<=+900%").status, 0) << "the estimate is within";
  const Finished fail = check("fail", "all.peak_rss_bytes<=+900%");
  EXPECT_EQ(fail.status, 5);
  EXPECT_THAT(fail.out, HasSubstr("Exit code 5: the gate on "));
}

TEST(ExitCode, IsTwoForBadUsage) {
  const Workplace place;
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "expected a command, found none"},
      {{"rum", "x.json"}, "rum"},
      {{"compare", "--a", "true"}, "needs both --a and --b"},
      {{"compare", "--a", "true", "--b", "true"}, "--calibrate"},
      {{"compare", "--a", "'open", "--b", "true"}, "quote"},
      {{"compare", "--a", "/no/such/program", "--b", "true"}, "no program"},
      {{"compare", "--a", "true", "--b", "true x", "--gate", "all.peak_rss_byte<=+1%"},
       "peak_rss_bytes"},
      {{"compare", "--a", "true", "--b", "true x", "--gate", "all.peak_rss_bytes<=+64"}, "64"},
      {{"compare", "--a", "true", "--b", "true x", "--repeats", "0"}, "repeats"},
  };
  for (const auto& [words, text] : cases) {
    const Finished run = memduel(place, words);
    EXPECT_EQ(run.status, 2) << text;
    EXPECT_THAT(run.err, HasSubstr(text));
    EXPECT_THAT(run.out, IsEmpty());
  }
  const fs::path runs = place.path("state/memduel/runs");
  EXPECT_TRUE(!fs::exists(runs) || fs::is_empty(runs));
}

TEST(ExitCode, IsTwoForAConfigWithAnUnknownKeyOrAWrongType) {
  const Workplace place;
  const std::string start =
      R"({ "name": "x", "baseline": "a", "variants": [ { "name": "a" }, { "name": "b",
    "env": { "X": "1" } } ], "workload": { "kind": "command", "processes": [ { "role": "c", "argv": ["true"] } ] },)";
  const std::string unknown = place.file("unknown.json", start + R"("measure": { "repeat": 5 } })");
  Finished run = memduel(place, {"run", unknown, "--out", place.path("run")});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("unknown.json"), HasSubstr("measure"), HasSubstr("repeats")));

  const std::string wrong =
      place.file("wrong.json", start + R"("measure": { "repeats": "five" } })");
  run = memduel(place, {"run", wrong, "--out", place.path("run")});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("repeats"), HasSubstr("five")));
  EXPECT_FALSE(fs::exists(place.path("run")));
}

TEST(ExitCode, IsTwoWhenTheDirectoryHoldsAnotherRun) {
  const Workplace place;
  ASSERT_EQ(duel(place, hog("4"), hog("5"), {"--repeats", "1", "--quiet"}).status, 0);
  const Finished again = duel(place, hog("4"), hog("6"), {"--repeats", "1"});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr(place.path("run").string()));
  const Finished resumed = duel(place, hog("4"), hog("6"), {"--repeats", "1", "--resume"});
  EXPECT_EQ(resumed.status, 2) << "a changed command is another run";
}

TEST(ExitCode, IsFourWhenAFileFails) {
  const Workplace place;
  EXPECT_EQ(memduel(place, {"run", place.path("absent.json")}).status, 4);
  EXPECT_EQ(memduel(place, {"report", place.path("absent")}).status, 4);
  const Finished unwritable =
      memduel(place, {"compare", "--a", hog("4"), "--b", hog("5"), "--out", "/dev/null/run"});
  EXPECT_EQ(unwritable.status, 4);
  EXPECT_THAT(unwritable.err, HasSubstr("/dev/null"));
}

TEST(ExitCode, IsFourForAStoreThatIsNone) {
  const Workplace place;
  fs::create_directories(place.path("run"));
  const std::string config = place.file("run/config.json", "{}");
  const std::string store = place.file("run/run.sqlite", "not a database");
  const Finished run = memduel(place, {"report", place.path("run")});
  EXPECT_EQ(run.status, 4);
  EXPECT_THAT(run.err, HasSubstr(store));
}

}  // namespace
}  // namespace memduel
