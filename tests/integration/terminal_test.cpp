// Every verb on a pseudo-terminal of 80 columns: it ends as it does in a pipe, and its lines fit.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "support/on_a_terminal.h"

namespace memduel {
namespace {

using testing::HasSubstr;

class EveryVerb : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = new Workplace;
    const std::string config = place_->file("duel.json", R"({
      "name": "duel", "workload": { "kind": "command", "processes": [
        { "role": "command", "argv": [")" MEMDUEL_HOG R"(", "20"] } ] },
      "variants": [ { "name": "a" }, { "name": "b", "argv": { "command": [")" MEMDUEL_HOG
                                                         R"(", "30"] } } ],
      "baseline": "a", "measure": { "repeats": 6 }, "profile": { "trials": 1 } })");
    run_ = on_a_terminal(*place_, memduel() + "run '" + config + "' --out run");
  }
  static void TearDownTestSuite() {
    delete place_;
    place_ = nullptr;
  }

  static std::string memduel() { return "'" MEMDUEL_PROGRAM "' "; }

  static Finished expect(const std::string& words, int status) {
    Finished run = on_a_terminal(*place_, memduel() + words);
    EXPECT_EQ(run.status, status) << words << "\n" << run.out;
    expect_fits(run, words);
    return run;
  }

  static Workplace* place_;
  static Finished run_;
};

Workplace* EveryVerb::place_ = nullptr;
Finished EveryVerb::run_;

TEST_F(EveryVerb, ThatMeasuresShowsItsProgressAndItsVerdict) {
  EXPECT_EQ(run_.status, 1) << "b needs more: " << run_.out;
  expect_fits(run_, "run");
  EXPECT_THAT(run_.out, HasSubstr("% more "));
  // A failed gate asks for profile trials that nobody planned; the bar must not run over its end.
  const std::string duel =
      " --a '" MEMDUEL_HOG " 20' --b '" MEMDUEL_HOG " 30' --repeats 6 --gate default";
  EXPECT_THAT(expect("compare --out compared" + duel, 1).out,
              testing::ContainsRegex("FAIL.*b uses "));
  EXPECT_THAT(expect("calibrate duel.json --repeats 8 --out calibration", 0).out,
              HasSubstr("noise floor"));
  EXPECT_TRUE(std::filesystem::exists(place_->path("compared/report.html")));
  EXPECT_THAT(expect("plan duel.json --detect 5%", 0).out, HasSubstr("95% CI"));
  EXPECT_THAT(expect("watch --interval 0.1 --out watched -- sleep 0.5", 0).out, HasSubstr("RSS"));
  expect("record -o one.mdp -- " MEMDUEL_HOG " 20", 0);
  expect("record --snapshot-at rss=90% -o snapshot.mdp -- " MEMDUEL_HOG " 20", 0);
  EXPECT_THAT(expect("need --limit process -- " MEMDUEL_HOG " 20", 0).out, HasSubstr("ulimit -d"));
  EXPECT_THAT(expect("run duel.json --launcher local --shards 2 --out none", 2).out,
              HasSubstr("give --launcher slurm"));
  EXPECT_THAT(expect("merge no-such-share --out merged", 4).out, HasSubstr("no-such-share"));
}

/// What a line of a terminal showed, one after the other.
std::vector<std::string> states_of(const std::string& line) {
  std::vector<std::string> states;
  std::istringstream all(line);
  for (std::string state; std::getline(all, state, '\r');) states.push_back(state);
  return states;
}

TEST_F(EveryVerb, ThatMeasuresHasOneLineOfProgressThatDisappears) {
  const Finished run = expect("run duel.json --out live", 1);
  std::istringstream lines(run.out);
  std::size_t live = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(shown(line), testing::Not(testing::ContainsRegex("trial [0-9]+ of"))) << "it stays";
    const std::vector<std::string> states = states_of(line);
    if (line.find("trial 1 of ") == std::string::npos) continue;
    ++live;
    EXPECT_THAT(states, testing::Contains(HasSubstr("b vs. a so far: peak RSS +")));
    for (const std::string& state : states)
      if (state.starts_with("trial ")) {
        EXPECT_LE(count_characters(state), 79U) << state;
      }
  }
  EXPECT_EQ(live, 1U) << run.out;
}

TEST_F(EveryVerb, ThatMeasuresInAPipePrintsOneLineInFiveSeconds) {
  const auto begin = std::chrono::steady_clock::now();
  const Finished run =
      memduel::memduel(*place_, {"run", place_->path("duel.json"), "--out", place_->path("piped")});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::size_t progress = 0;
  std::istringstream lines(run.err);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("trial ")) ++progress;
  EXPECT_LE(static_cast<double>(progress), took.count() / 5) << run.err;
  EXPECT_TRUE(std::ranges::all_of(run.err, [](unsigned char c) { return c >= ' ' || c == '\n'; }));
  const Finished quiet = memduel::memduel(
      *place_, {"run", place_->path("duel.json"), "--quiet", "--out", place_->path("q")});
  EXPECT_EQ(quiet.err, "");
}

TEST_F(EveryVerb, ThatJudgesEndsOnOneScreenOfAnyWidth) {
  for (const std::string words : {"check run", "compare run run --out twice"})
    for (const int columns : {40, 80, 160}) {
      const Finished run = on_a_terminal(*place_, memduel() + words, columns);
      expect_fits(run, words, static_cast<std::size_t>(columns));
      EXPECT_LE(std::ranges::count(run.out, '\n'), columns < 80 ? 60 : 26) << words << columns;
    }
  EXPECT_GT(std::ranges::count(on_a_terminal(*place_, memduel() + "check run --verbose").out, '\n'),
            20);
}

TEST_F(EveryVerb, ThatReadsARunFitsTheTerminal) {
  const std::string text = expect("report run --format text", 0).out;
  EXPECT_THAT(text, HasSubstr("% more "));
  EXPECT_EQ(expect("report run --verbose", 0).out, text);
  EXPECT_EQ(expect("report run --format text --verbose", 0).out, text);
  EXPECT_THAT(expect("report run --format csv --verbose", 2).out,
              HasSubstr("--verbose applies to text only"));
  expect("explain run all.peak_heap_bytes", 0);
  expect("check run", 1);
  expect("compare run run --out twice", 0);
  EXPECT_EQ(expect("explain run no.such_metric", 2).status, 2);
}

TEST_F(EveryVerb, ThatReadsAProfileFitsTheTerminal) {
  ASSERT_EQ(on_a_terminal(*place_, memduel() + "record -o two.mdp -- " MEMDUEL_HOG " 20").status,
            0);
  EXPECT_THAT(expect("summary two.mdp", 0).out, HasSubstr("live at peak"));
  expect("flamegraph two.mdp -o two.html", 0);
  expect("flamegraph two.mdp --diff two.mdp -o same.html", 0);
  expect("export two.mdp --format folded -o two.txt", 0);
  EXPECT_THAT(expect("summary run/profiles", 0).out, HasSubstr("  top"));
  expect("summary no-such.mdp", 4);
}

TEST_F(EveryVerb, ThatComparesBenchmarksFitsTheTerminal) {
  const std::string program =
      " '" MEMDUEL_RECORDER_PROGRAMS "/benchmarks --benchmark_filter=an_iteration'";
  const Finished compared = expect("compare --verbose --repeats 4 --out benchmarks --a" + program +
                                       " --b" + program + "' --benchmark_min_time=0.1'",
                                   0);
  EXPECT_THAT(compared.out, HasSubstr("two_blocks_a"));
}

TEST_F(EveryVerb, ThatTellsOfTheMachineFitsTheTerminal) {
  for (const char* list :
       {"list", "list metrics", "list meters", "list profilers", "list templates"})
    expect(list, 0);
  const Finished doctor = on_a_terminal(*place_, memduel() + "doctor");
  EXPECT_LE(doctor.status, 3) << doctor.out;
  expect_fits(doctor, "doctor");
  expect("--help", 0);
  expect("runn", 2);
}

}  // namespace
}  // namespace memduel
