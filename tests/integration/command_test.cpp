// The verbs that look at a finished run or at this build.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

namespace fs = std::filesystem;

/// A run of five blocks that every test here may look at.
class FinishedDuel : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = new Workplace;
    const Finished run =
        memduel(*place_, {"compare", "--a", MEMDUEL_ACT " idle touch 10 round 1 touch 30 end 1",
                          "--b", MEMDUEL_ACT " idle touch 10 round 1 touch 20 end 1", "--repeats",
                          "5", "--out", directory()});
    ASSERT_EQ(run.status, 0) << run.err;
  }
  static void TearDownTestSuite() { delete place_; }
  static std::string directory() { return place_->path("run").string(); }
  static const Workplace& place() { return *place_; }

 private:
  static inline Workplace* place_ = nullptr;
};

TEST_F(FinishedDuel, ReportsInEveryFormat) {
  EXPECT_EQ(memduel(place(), {"report", directory()}).out, directory() + "/report.html\n");
  EXPECT_THAT(read_file(place().path("run/report.html")), StartsWith("<!doctype html>"));
  const std::map<std::string, std::string> expected = {{"text", "peak RSS"},
                                                       {"markdown", "| "},
                                                       {"junit", "<testsuite"},
                                                       {"csv", "trial,"},
                                                       {"github", "::notice title=memduel"}};
  for (const auto& [format, text] : expected) {
    const Finished run = memduel(place(), {"report", directory(), "--format", format});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr(text)) << format;
  }
}

TEST_F(FinishedDuel, ExplainsARowAndNamesTheNearest) {
  const Finished row = memduel(place(), {"explain", directory(), "command.peak_rss_bytes"});
  EXPECT_EQ(row.status, 0) << row.err;
  EXPECT_THAT(row.out,
              AllOf(HasSubstr("orders that could have been drawn"), HasSubstr("Margin: ")));
  const Finished wrong = memduel(place(), {"explain", directory(), "command.peak_rss_byte"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("command.peak_rss_bytes"));
}

TEST_F(FinishedDuel, ChecksGates) {
  const std::string junit = place().path("gates.xml").string();
  const Finished tight = memduel(
      place(), {"check", directory(), "--junit", junit, "--gate", "command.peak_rss_bytes<=25MiB"});
  EXPECT_EQ(tight.status, 1) << tight.out;
  EXPECT_THAT(read_file(junit), AllOf(HasSubstr("<failure"), HasSubstr("25MiB")));
  EXPECT_EQ(
      memduel(place(), {"check", directory(), "--gate", "command.peak_rss_bytes<=25MiB:advisory"})
          .status,
      0);
}

TEST_F(FinishedDuel, IsComparedWithAnotherRun) {
  const Finished run = memduel(place(), {"compare", directory(), directory(), "--verbose", "--out",
                                         place().path("merged").string()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("not interleaved"));
  const auto results = results_in(place().path("merged"));
  EXPECT_EQ(comparison(results, "command", "peak_rss_bytes").at("ratio"), 1.0);
}

TEST(Lists, NameWhatThisBuildKnows) {
  const Workplace place;
  const std::map<std::string, std::string> expected = {
      {"meters", "procfs"}, {"metrics", "peak_rss_above_idle_bytes"}, {"profilers", "recorder"}};
  for (const auto& [kind, text] : expected) {
    const Finished run = memduel(place, {"list", kind});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr(text)) << kind;
  }
  EXPECT_EQ(memduel(place, {"list", "colours"}).status, 2);
}

TEST(Doctor, NamesWhatIsThereAndHowToGetTheRest) {
  const Workplace place;
  const Finished run = memduel(place, {"doctor"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("statm"), HasSubstr("cgroup"), HasSubstr("git")));
}

TEST(Doctor, SaysWhatARunnerLacksAndWhichGatesHoldThere) {
  const Workplace place;
  const Finished run = memduel(place, {"doctor", "--ci"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(StartsWith("This runner: "), HasSubstr("round_seconds"),
                             HasSubstr("--gate 'all.peak_heap_and_mapped_bytes<=+1%'")));
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(Help, FitsATerminalAndShowsAnExampleForEveryVerb) {
  const Workplace place;
  for (const char* verb : {"run", "compare", "watch", "report", "explain", "check", "calibrate",
                           "plan", "doctor", "list"}) {
    const Finished help = memduel(place, {verb, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, HasSubstr("xample")) << verb;
    std::istringstream lines(help.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST(Plan, ProbesTheNoiseAndCalibrateKeepsIt) {
  const Workplace place;
  const std::string config = place.file("duel.json", R"({
    "name": "planned", "workload": { "kind": "command", "processes": [
      { "role": "command", "argv": [")" MEMDUEL_HOG R"(", "40", "0.5"] } ] },
    "variants": [ { "name": "a" }, { "name": "b", "argv": { "command": [")" MEMDUEL_HOG
                                                     R"(", "41", "0.5"] } } ],
    "baseline": "a" })");
  Finished plan = memduel(place, {"plan", config, "--detect", "5%"});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_THAT(plan.out, AllOf(HasSubstr("probe"),
                              ContainsRegex("trials each \\(95% CI [0-9]+ to [0-9]+\\), about")));
  EXPECT_EQ(memduel(place, {"plan", config, "--detect", "two"}).status, 2);

  const Finished calibrate =
      memduel(place, {"calibrate", config, "--repeats", "16", "--out", place.path("calibration")});
  EXPECT_EQ(calibrate.status, 0) << calibrate.err;
  EXPECT_THAT(calibrate.out, AllOf(HasSubstr("noise floor"), HasSubstr("all")));
  plan = memduel(place, {"plan", config, "--detect", "2%"});
  EXPECT_THAT(plan.out, HasSubstr("from the calibration"));

  ASSERT_LE(memduel(place, {"run", config, "--out", place.path("run"), "--repeats", "8"}).status,
            1);
  EXPECT_TRUE(fs::exists(place.path("run/calibration.json"))) << "later runs use it";
}

TEST(GoogleBenchmark, FilesOfTwoBuildsAreCompared) {
  const Workplace place;
  const std::string a = MEMDUEL_TESTDATA "/google_benchmark_a.json";
  const std::string b = MEMDUEL_TESTDATA "/google_benchmark_b.json";
  const Finished run = memduel(place, {"compare", a, b, "--verbose", "--out", place.path("run")});
  EXPECT_EQ(run.status, 0) << run.err;
  // The benchmark allocates once per iteration in build A and four times in build B.
  const auto row = comparison(results_in(place.path("run")), "allocate", "allocation_count");
  EXPECT_EQ(row.at("verdict"), "regressed");
  EXPECT_DOUBLE_EQ(row.at("ratio").get<double>(), 4);
  EXPECT_THAT(run.out, HasSubstr("impossible"));
  EXPECT_EQ(row.at("candidate"), "google_benchmark_b");
  const Finished mixed = memduel(place, {"compare", a, place.path("run/results.json").string()});
  EXPECT_EQ(mixed.status, 2);
}

std::string hyperfine_file(const std::string& name) {
  return MEMDUEL_SOURCES "/bench/verdict/testdata/hyperfine/" + name;
}

TEST(Hyperfine, FilesOfTwoCommandsAreCompared) {
  const Workplace place;
  const std::string a = hyperfine_file("2.0-old.json");
  const std::string b = hyperfine_file("2.0-new.json");
  const Finished run =
      memduel(place, {"compare", a, b, "--gate", "all.peak_largest_process_rss_bytes<=+5%",
                      "--verbose", "--out", place.path("run")});
  EXPECT_EQ(run.status, 1) << run.err;
  // The commands fill 16 and 24 MiB.
  const auto row =
      comparison(results_in(place.path("run")), "all", "peak_largest_process_rss_bytes");
  EXPECT_EQ(row.at("verdict"), "regressed");
  EXPECT_NEAR(row.at("difference").get<double>(), 8 << 20, 1 << 17);
  EXPECT_THAT(run.out, HasSubstr("touch-mib 24 3"));
  EXPECT_THAT(run.out, HasSubstr("not interleaved"));
  EXPECT_THAT(run.out, HasSubstr("peak RSS of the largest single process"));
  EXPECT_TRUE(std::filesystem::exists(place.path("run/report.html")));
  const Finished mixed = memduel(place, {"compare", a, place.path("run/results.json").string()});
  EXPECT_EQ(mixed.status, 2);
  EXPECT_THAT(mixed.err, HasSubstr("found those of hyperfine and of memduel"));
}

TEST(Hyperfine, TheCommandsOfOneFileAreComparedWithTheFirstOrTheNamedOne) {
  const Workplace place;
  const std::string scan = hyperfine_file("2.0-scan.json");
  const Finished first = memduel(place, {"compare", scan, "--out", place.path("first")});
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(results_in(place.path("first")).at("comparisons")[0].at("baseline"), "mib-8");
  const Finished other =
      memduel(place, {"compare", scan, "--variant", "mib-16", "--out", place.path("other")});
  EXPECT_EQ(other.status, 0) << other.err;
  EXPECT_EQ(results_in(place.path("other")).at("comparisons")[0].at("baseline"), "mib-16");
  const Finished alone = memduel(place, {"compare", hyperfine_file("2.0-old.json")});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, HasSubstr("expected a file of several commands, found one command"));
  const Finished benchmark =
      memduel(place, {"compare", MEMDUEL_TESTDATA "/google_benchmark_a.json"});
  EXPECT_EQ(benchmark.status, 2);
  EXPECT_THAT(benchmark.err, HasSubstr("found one file of Google Benchmark"));
}

TEST(Hyperfine, ABrokenFileIsRefusedWithItsPlace) {
  const Workplace place;
  const std::string nan =
      place.file("nan.json", "{\"results\": [{\"command\": \"x\",\n\"times\": [0.1, NaN]}]}\n");
  const Finished run = memduel(place, {"compare", nan, hyperfine_file("2.0-old.json")});
  EXPECT_EQ(run.status, 4);
  EXPECT_THAT(run.err, HasSubstr("nan.json: not valid JSON: "));
  EXPECT_THAT(run.err, HasSubstr("line 2, column 16"));
  const std::string schema = place.file("three.json", "{\"schema_version\": 3, \"results\": []}");
  const Finished other = memduel(place, {"compare", schema, schema});
  EXPECT_EQ(other.status, 4);
  EXPECT_THAT(other.err, HasSubstr("three.json at /schema_version: expected schema_version 2"));
}

TEST(Hyperfine, ReadsWhatMemduelExportedForIt) {
  const Workplace place;
  const Finished scan = memduel(
      place, {"compare", "-L", "n", "1,2", "head -c {n} /dev/zero", "--repeats", "6",
              "--export-json", place.path("h.json"), "--out", place.path("run"), "--quiet"});
  EXPECT_EQ(scan.status, 0) << scan.err;
  const auto exported = nlohmann::json::parse(read_file(place.path("h.json")));
  EXPECT_EQ(exported.at("results")[1].at("parameters"), nlohmann::json({{"n", {{"value", "2"}}}}));
  const Finished back = memduel(
      place, {"compare", place.path("h.json").string(), "--out", place.path("back"), "--verbose"});
  EXPECT_EQ(back.status, 0) << back.err;
  EXPECT_THAT(back.out, HasSubstr("does not contain the order of the"));
  const auto of_run = comparison(results_in(place.path("run")), "all", "peak_rss_bytes");
  const auto of_file = comparison(nlohmann::json::parse(read_file(place.path("back/results.json"))),
                                  "all", "peak_rss_bytes");
  EXPECT_EQ(of_file.at("candidate"), "n-2");
  EXPECT_EQ(of_file.at("baseline_median"), of_run.at("baseline_median"));
  EXPECT_EQ(of_file.at("candidate_median"), of_run.at("candidate_median"));
}

TEST(GoogleBenchmark, ProgramsRunInTurnsAndTellOfEachBenchmark) {
  const Workplace place;
  const std::string program = MEMDUEL_RECORDER_PROGRAMS "/benchmarks";
  const std::string twice = program + " --benchmark_repetitions=3";
  const Finished run = memduel(
      place, {"compare", "--repeats", "4", "--a", program, "--b", twice, "--out", place.path("run"),
              "--verbose", "--gate", "two_blocks_an_iteration/iterations:16.peak_heap<=+1%"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("two_blocks_a"));
  const auto results = results_in(place.path("run"));
  const std::string kept = "keeps_a_block_an_iteration/iterations:8";
  // Eight blocks of a megabyte stay; a block of this size has pages of its own, and a header.
  const auto growth = comparison(results, kept, "net_heap_growth_bytes");
  EXPECT_NEAR(growth.at("baseline_median").get<double>(), 8e6, 8 * 4112);
  const auto peak = comparison(results, "two_blocks_an_iteration/iterations:16", "peak_heap_bytes");
  EXPECT_NEAR(peak.at("baseline_median").get<double>(), 2e6, 2 * 4112);
  EXPECT_EQ(peak.at("verdict"), "unchanged");
  EXPECT_EQ(peak.at("n_candidate"), 4);
  EXPECT_EQ(results.at("gates").at(0).at("outcome"), "passed");
  EXPECT_GT(comparison(results, kept, "cpu_time_seconds").at("candidate_median").get<double>(), 0);
}

// Debian's redis-server is a link to redis-check-rdb, BusyBox has a hundred such.
TEST(Record, NamesAProgramByTheLinkThroughWhichItWasCalled) {
  const Workplace place;
  const std::string profile = place.path("p.mdp").string();
  const std::string link = place.path("called-so").string();
  std::filesystem::create_symlink("/bin/true", link);
  ASSERT_EQ(memduel(place, {"record", "-o", profile, "--", link}).status, 0);
  EXPECT_THAT(memduel(place, {"summary", profile}).out, HasSubstr("program         " + link));
}

// As nginx and PostgreSQL do, whose workers were called by their master's name.
TEST(Record, NamesAForkedProcessAsItCallsItself) {
  const Workplace place;
  const std::string script = "if (!fork) { $0 = 'worker process'; exit 0 } wait";
  ASSERT_EQ(
      memduel(place, {"record", "-o", place.path("p.mdp"), "--", "perl", "-e", script}).status, 0);
  EXPECT_THAT(memduel(place, {"summary", place.path("p.mdp")}).out,
              HasSubstr("command         perl -e " + script));
  EXPECT_THAT(memduel(place, {"summary", place.path("p.2.mdp")}).out,
              HasSubstr("command         worker process"));
}

TEST(StandardError, ThatCannotBeWrittenEndsNoRun) {
  const Workplace place;
  const auto shell = [&](const std::string& command) {
    Running run(place, "/bin/sh", {"-c", command});
    return run.wait().status;
  };
  const std::string memduel = "'" MEMDUEL_PROGRAM "' ";
  const std::string profile = place.path("p.mdp").string();
  EXPECT_EQ(shell(memduel + "record -o '" + profile + "' -- sh -c 'exit 7' 2>/dev/full"), 7);
  EXPECT_EQ(shell(memduel + "summary /none 2>&-"), 4);
  EXPECT_EQ(shell(memduel + "compare --calibrate --repeats 1 --a true --b true --out '" +
                  place.path("run").string() + "' 2>/dev/full"),
            0);
  EXPECT_TRUE(std::filesystem::exists(place.path("run/report.html")));
}

TEST(Output, ToADeviceLeavesTheDevice) {
  const Workplace place;
  EXPECT_EQ(memduel(place, {"record", "-o", "/dev/null", "--", "true"}).status, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(ExampleOfTheReadme, SaysWhatALazyReaderSavesAndWhichFunctionHeldIt) {
  constexpr int kRows = 100000;
  const Workplace place;
  std::string rows;
  for (int i = 1; i <= kRows; ++i) rows += std::to_string(i) + ",0.5,x\n";
  const std::string examples = MEMDUEL_SOURCES "/examples/rows/";
  const auto command = [&](const char* script) {
    return "/usr/bin/python3 " + examples + script + " " + place.file("rows.csv", rows);
  };
  const Finished run =
      memduel(place, {"compare", "--a", command("before.py"), "--b", command("after.py"),
                      "--repeats", "6", "--out", place.path("run").string()});
  ASSERT_EQ(run.status, 0) << run.err << run.out;
  const auto row = comparison(results_in(place.path("run")), "all", "peak_rss_bytes");
  EXPECT_EQ(row.at("verdict"), "improved");
  // By sys.getsizeof a list has 56 bytes and a string of one character 50.
  EXPECT_GE(row.at("baseline_median").get<double>() - row.at("candidate_median").get<double>(),
            kRows * (56 + 3 * 50));
  EXPECT_THAT(run.out, HasSubstr("read_rows, list comprehension"));
  EXPECT_THAT(run.out, HasSubstr("Output identical")) << "both print the same sum";
}

}  // namespace
}  // namespace memduel
