// examples/python-fl: a job in Python with PyTorch that knows nothing of memduel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "support/memduel_program.h"

namespace memduel {
namespace {

using testing::HasSubstr;

constexpr const char* kConfig = MEMDUEL_SOURCES "/examples/python-fl/compare.json";
constexpr int kRounds = 60;

/// The interpreter that has PyTorch goes first.
class PythonFl : public testing::Test {
 protected:
  PythonFl() {
    const std::string path = std::string(MEMDUEL_PYTHON_DIRECTORY) + ":" + std::getenv("PATH");
    setenv("PATH", path.c_str(), 1);
  }

  std::string out() const { return place_.path("run").string(); }
  Finished run(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"run", kConfig, "--out", out()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return memduel(place_, arguments);
  }

  Workplace place_;
};

/// The rounds of a role in each measure trial.
std::vector<std::size_t> rounds_of(const nlohmann::json& results, const std::string& wanted) {
  std::vector<std::size_t> counts;
  for (const auto& trial : results.at("trials")) {
    for (const auto& role : trial.at("roles")) {
      if (trial.at("kind") == "measure" && role.at("role") == wanted)
        counts.push_back(role.at("rounds").size());
    }
  }
  return counts;
}

TEST_F(PythonFl, TheGateNamesTheServerAndTheProfilesTheFunctionThatKeepsUpdates) {
  const Finished duel = run({});
  EXPECT_EQ(duel.status, 1) << duel.err;
  EXPECT_THAT(duel.out,
              HasSubstr("Gate server.rss_growth_bytes_per_round<=64KiB for leak: failed"));
  EXPECT_THAT(duel.out, HasSubstr("keep_update"));

  const nlohmann::json results = results_in(out());
  ASSERT_EQ(results.at("gates").size(), 1U);
  EXPECT_EQ(results.at("gates")[0].at("outcome"), "failed");
  EXPECT_THAT(rounds_of(results, "server"), testing::Each(kRounds));
  EXPECT_THAT(rounds_of(results, "client-1"), testing::Each(kRounds));

  // Two clients' updates of 2.1 MiB in each round, and what becomes free between them.
  for (const auto& growth : results.at("growth")) {
    if (growth.at("role") != "server" || growth.at("metric") != "rss_growth_bytes_per_round")
      continue;
    if (growth.at("variant") == "leak") {
      EXPECT_GT(growth.at("slope"), 2.1e6);
      EXPECT_LT(growth.at("slope"), 8.4e6);
    } else {
      EXPECT_LT(growth.at("slope"), 1e6);
    }
  }

  ASSERT_EQ(results.at("equivalence").size(), 1U);
  EXPECT_EQ(results.at("equivalence")[0].at("bit_identical"), true) << results.at("equivalence");

  const auto& differences = results.at("differences");
  const bool named = std::any_of(differences.begin(), differences.end(), [](const auto& one) {
    return one.at("role") == "server" &&
           one.at("stack").dump().find("keep_update") != std::string::npos;
  });
  EXPECT_TRUE(named) << differences.dump(1);
}

/// The server's growth by rounds in an arm.
nlohmann::json server_growth(const nlohmann::json& results, const std::string& arm) {
  for (const auto& row : results.at("growth"))
    if (row.at("variant") == arm && row.at("role") == "server" &&
        row.at("metric") == "rss_growth_bytes_per_round")
      return row;
  return nullptr;
}

// Of 256 KiB that are kept from each round a mapping takes a page more.
TEST_F(PythonFl, ALeakOfAQuarterMiBInEachRoundIsFoundMeasuredAndNamed) {
  const Finished run = memduel(
      place_,
      {"run", MEMDUEL_SOURCES "/examples/python-fl/slow-leak.json", "--out", out(), "--set",
       R"(workload.processes.0.argv=["python3","annotated_server.py","--port","{port:fl}",)"
       R"("--clients","1","--rounds","60","--seed","{seed}","--out","{trial_dir}/model.pt"])",
       "--set", "workload.processes.1.count=1", "--repeats", "3", "--set",
       R"(workload.processes.1.argv=["python3","client.py","--port","{port:fl}","--seed","{seed}",)"
       R"("--number","{index}","--steps","1"])"});
  EXPECT_EQ(run.status, 1) << run.err;
  const nlohmann::json results = results_in(out());
  const nlohmann::json leak = server_growth(results, "leak");
  constexpr double kKept = 262144 + 4096;
  EXPECT_EQ(leak.at("verdict"), "growing") << leak.at("reason");
  EXPECT_NEAR(leak.at("slope"), kKept, 0.1 * kKept);
  ASSERT_FALSE(leak.at("stacks").empty());
  EXPECT_THAT(leak.at("stacks")[0].dump(), HasSubstr("keep_part"));
  EXPECT_THAT(server_growth(results, "clean").at("verdict"),
              testing::AnyOf("flat", "leveling_off", "stepped"));
}

TEST_F(PythonFl, AServerThatDaemonisesItselfIsMeasuredAndLeavesNothingBehind) {
  const Finished duel = run(
      {"--repeats", "1", "--set", "profile.trials=0", "--gate", "server.peak_rss_bytes<=4GiB",
       "--set",
       R"(workload.processes.0.argv=["python3","server.py","--port","{port:fl}","--rounds","60","--seed",)"
       R"("{seed}","--out","{trial_dir}/model.pt","--daemonise"])"});
  EXPECT_EQ(duel.status, 0) << duel.err;
  const nlohmann::json results = results_in(out());
  for (const auto& trial : results.at("trials")) EXPECT_EQ(trial.at("status"), "ok") << trial;
  EXPECT_THAT(rounds_of(results, "server"), testing::Each(kRounds));
  EXPECT_THAT(processes_with(out()), testing::IsEmpty());
}

}  // namespace
}  // namespace memduel
