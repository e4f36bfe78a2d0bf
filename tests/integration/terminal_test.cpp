// Every verb on a pseudo-terminal of 80 columns: it ends as it does in a pipe, and its lines fit.
#include <gmock/gmock.h>

#include <cctype>
#include <filesystem>
#include <sstream>

#include "base/characters.h"
#include "tests/integration/memduel_program.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::Not;

/// `script` (bsdutils) gives the command a terminal of its own; its bytes are in `out`.
Finished on_a_terminal(const Workplace& place, const std::string& command) {
  Running run(place, "/usr/bin/script",
              {"-qec", "stty rows 24 cols 80 && cd '" + place.path("").string() + "' && " + command,
               "/dev/null"},
              place.path(""));
  return run.wait();
}

/// What stays of a line when its escape sequences and what it wrote over are taken out.
std::string shown(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  line = line.substr(line.rfind('\r') + 1);
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\033') {
      text += line[i];
      continue;
    }
    do ++i;
    while (i < line.size() && std::isalpha(static_cast<unsigned char>(line[i])) == 0);
  }
  return text;
}

/// Paths stay whole to be copied, however long the folder of the build is; so do commands.
bool may_be_long(const std::string& line) {
  for (const char* words : {"memduel flamegraph", "profile:", "report:"})
    if (line.find(words) != std::string::npos) return true;
  return line.starts_with('/') || line.find(" /") != std::string::npos;
}

void expect_fits(const Finished& run, const std::string& command) {
  EXPECT_THAT(run.out, Not(HasSubstr("basic_string"))) << command;
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) {
    const std::string text = shown(line);
    if (may_be_long(text)) continue;
    EXPECT_LE(count_characters(text), 80U) << command << ": " << text;
  }
}

class EveryVerb : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = new Workplace;
    const std::string config = place_->file("duel.json", R"({
      "name": "duel", "workload": { "kind": "command", "processes": [
        { "role": "command", "argv": [")" MEMDUEL_HOG R"(", "20"] } ] },
      "arms": [ { "name": "a" }, { "name": "b", "argv": { "command": [")" MEMDUEL_HOG
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
  EXPECT_THAT(run_.out, HasSubstr("MORE"));
  // A failed gate asks for profile trials that nobody planned; the bar must not run over its end.
  const std::string duel = " --a '" MEMDUEL_HOG " 20' --b '" MEMDUEL_HOG " 30' --repeats 5";
  EXPECT_THAT(expect("compare --out compared" + duel, 1).out, HasSubstr("[gate failed]"));
  EXPECT_THAT(expect("calibrate duel.json --repeats 8 --out calibration", 0).out,
              HasSubstr("noise floor"));
  EXPECT_TRUE(std::filesystem::exists(place_->path("compared/report.html")));
  EXPECT_THAT(expect("plan duel.json --detect 5%", 0).out, HasSubstr("blocks, about"));
  EXPECT_THAT(expect("watch --interval 0.1 --out watched -- sleep 0.5", 0).out, HasSubstr("RSS"));
  expect("record -o one.mdp -- " MEMDUEL_HOG " 20", 0);
}

TEST_F(EveryVerb, ThatReadsARunFitsTheTerminal) {
  EXPECT_THAT(expect("report run --format text", 0).out, HasSubstr("MORE"));
  expect("explain run tree.peak_heap_bytes", 0);
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
  expect("summary no-such.mdp", 4);
}

TEST_F(EveryVerb, ThatComparesBenchmarksFitsTheTerminal) {
  const std::string program =
      " '" MEMDUEL_RECORDER_PROGRAMS "/benchmarks --benchmark_filter=an_iteration'";
  const Finished compared = expect("compare --no-default-gates --repeats 4 --out benchmarks --a" +
                                       program + " --b" + program + "' --benchmark_min_time=0.1'",
                                   0);
  EXPECT_THAT(compared.out, HasSubstr("two_blocks_an_iteration/iterations:16\r\n"));
}

TEST_F(EveryVerb, ThatPlansOrImportsFitsTheTerminal) {
  EXPECT_THAT(expect("budget --model gat-small --device-memory 4GB", 0).out,
              HasSubstr("may be used"));
  EXPECT_THAT(expect("budget --model gat-smal", 2).out, HasSubstr("did you mean gat-small?"));
  EXPECT_THAT(expect("import-appfl none.yaml nobody.yaml", 4).out, HasSubstr("none.yaml"));
}

TEST_F(EveryVerb, ThatTellsOfTheMachineFitsTheTerminal) {
  for (const char* list : {"list metrics", "list meters", "list optimizations", "list presets"})
    expect(list, 0);
  const Finished doctor = on_a_terminal(*place_, memduel() + "doctor");
  EXPECT_LE(doctor.status, 3) << doctor.out;
  expect_fits(doctor, "doctor");
  expect("--help", 0);
  expect("runn", 2);
}

}  // namespace
}  // namespace memduel
