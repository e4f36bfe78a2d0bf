// memduel run SUITE: several experiments from one command, past a failure, over a kill, to an
// index.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

#include "support/memduel_program.h"
#include "util/file.h"
#include "util/json.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLongest{60};

/// A config of two arms that run the same program.
std::string duel_of(const std::string& name, const std::string& program, int repeats) {
  const nlohmann::json config = {
      {"name", name},
      {"workload",
       {{"kind", "command"},
        {"processes", {{{"role", "server"}, {"argv", {"sh", "-c", program}}}}}}},
      {"variants", {{{"name", "x"}}, {{"name", "y"}, {"env", {{"LC_ALL", "C"}}}}}},
      {"baseline", "x"},
      {"measure", {{"repeats", repeats}, {"meters", {"procfs"}}}},
      // Whether so short a program is decided is not the question here.
      {"gates", {"server.peak_rss_bytes<=+900%:advisory"}}};
  return config.dump();
}

class SuiteOfCommands : public testing::Test {
 protected:
  SuiteOfCommands() {
    write_file_atomically(place_.path("quick.json"),
                          duel_of("quick", "sort /etc/services > /dev/null", 5));
    write_file_atomically(place_.path("slow.json"), duel_of("slow", "sleep 0.3", 5));
    write_file_atomically(place_.path("broken.json"), duel_of("broken", "exit 7", 2));
  }

  std::vector<std::string> words(const std::string& experiments, bool resume = false) {
    const std::string file =
        place_.file("suite.json", R"({"name": "s", "experiments": )" + experiments + "}");
    std::vector<std::string> all = {"run", file, "--out", out_.string()};
    if (resume) all.emplace_back("--resume");
    return all;
  }

  std::vector<std::string> outcomes() {
    std::vector<std::string> found;
    const nlohmann::json index = parse_foreign_json(read_file(out_ / "suite.json"));
    for (const auto& one : index.at("experiments"))
      found.push_back(one.at("name").get<std::string>() + ": " +
                      one.at("outcome").get<std::string>());
    return found;
  }

  Workplace place_;
  fs::path out_ = place_.path("out");
};

TEST_F(SuiteOfCommands, GoesOnPastOneThatFailsAndLinksTheOthers) {
  const Finished run = Running(place_, words(R"([{"config": "broken.json"},
      {"config": "quick.json", "matrix": {"measure.repeats": [5, 6]}}])"))
                           .wait();
  EXPECT_EQ(run.status, 3) << run.err;
  EXPECT_THAT(outcomes(), ElementsAre("broken: could not be measured", "quick-repeats-5: no gates",
                                      "quick-repeats-6: no gates"));
  EXPECT_THAT(run.err, AllOf(HasSubstr("broken: "), HasSubstr("3 experiments, about ")));
  const std::string page = read_file(out_ / "index.html");
  EXPECT_THAT(page, AllOf(HasSubstr("href=\"quick-repeats-5/report.html\""),
                          HasSubstr("exited with status 7"), Not(HasSubstr("href=\"broken/"))));
  EXPECT_TRUE(fs::exists(out_ / "quick-repeats-6" / "report.html"));
}

TEST_F(SuiteOfCommands, KilledInItsMiddleItGoesOnWhereItWas) {
  const std::string experiments =
      R"([{"config": "quick.json"}, {"config": "slow.json"}, {"config": "quick.json", "name": "last"}])";
  {
    Running run(place_, words(experiments));
    ASSERT_TRUE(within(kLongest, [&] { return fs::exists(out_ / "quick" / "report.html"); }));
    run.signal(SIGKILL);
    run.wait();
  }
  EXPECT_THAT(outcomes(),
              ElementsAre(HasSubstr("quick: "), "slow: not run yet", "last: not run yet"));
  const auto before = fs::last_write_time(out_ / "quick" / "run.sqlite");
  const Finished resumed = Running(place_, words(experiments, true)).wait();
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(outcomes(), ElementsAre("quick: no gates", "slow: no gates", "last: no gates"));
  EXPECT_LE(before, fs::last_write_time(out_ / "quick" / "run.sqlite"));
  EXPECT_THAT(resumed.err, Not(HasSubstr("1/3 quick, block")));
}

TEST_F(SuiteOfCommands, ABadConfigIsRefusedBeforeTheFirstTrial) {
  write_file_atomically(place_.path("bad.json"), R"({"name": "bad"})");
  const Finished run =
      Running(place_, words(R"([{"config": "quick.json"}, {"config": "bad.json"}])")).wait();
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("bad.json"));
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(SuiteOfCommands, ADirectoryWithOtherFilesIsLeftAlone) {
  fs::create_directory(out_);
  write_file_atomically(out_ / "index.html", "mine");
  const Finished fresh = Running(place_, words(R"([{"config": "quick.json"}])")).wait();
  EXPECT_EQ(fresh.status, 2);
  EXPECT_THAT(fresh.err, HasSubstr("expected an empty directory"));
  const Finished resumed = Running(place_, words(R"([{"config": "quick.json"}])", true)).wait();
  EXPECT_EQ(resumed.status, 2);
  EXPECT_THAT(resumed.err, HasSubstr("no suite here"));
  EXPECT_EQ(read_file(out_ / "index.html"), "mine");
}

}  // namespace
}  // namespace memduel
