// An arm taken apart: real rounds without training, from the config to the report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// 8 MiB of state, two rounds; framing, aggregate and staging differ.
constexpr const char* kConfig = R"({
  "name": "small", "baseline": "old",
  "workload": { "kind": "state-dict", "model": "tensors", "tensors": { "a": [1024, 1024], "b": [1024, 1024] },
    "clients": 2, "rounds": 2, "transport": { "kind": "unix" }, "deadline_seconds": 120 },
  "variants": [
    { "name": "old", "preset": "appfl-optimized", "switches": { "response": "streamed_from_tensors" } },
    { "name": "middle", "preset": "appfl-as-implemented" },
    { "name": "new", "preset": "appfl-optimized",
      "switches": { "response": "streamed_from_tensors", "framing": "embedded_in_message", "aggregate": "streaming_fold", "staging": "unlinked_file" } } ]
})";
constexpr double kStateBytes = 2 * 1024 * 1024 * 4.0;

class Ablate : public testing::Test {
 protected:
  Finished ablate(std::vector<std::string> more) {
    std::vector<std::string> words = {"ablate",
                                      place.file("config.json", kConfig),
                                      "--out",
                                      place.path("run"),
                                      "--on-inconclusive",
                                      "pass"};
    words.insert(words.end(), more.begin(), more.end());
    return memduel(place, words);
  }

  Workplace place;
};

std::set<std::string> arms_of(const json& results, bool apart) {
  std::set<std::string> names;
  for (const json& arm : results.at("variants"))
    if (arm.at("ablation") == apart) names.insert(arm.at("name"));
  return names;
}

json row(const json& results, const std::string& optimization, const std::string& role) {
  for (const json& one : results.at("ablation"))
    if (one.at("switch") == optimization && one.at("role") == role &&
        one.at("metric") == "peak_rss_bytes" && one.at("phase").is_null())
      return one;
  return nullptr;
}

TEST_F(Ablate, MeasuresEverySwitchOnBothSidesAndReportsIt) {
  const Finished run = ablate({"--repeats", "2"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("ablating new against old: 3 switches, 7 variants, 21 trials"));
  const json results = results_in(place.path("run"));
  EXPECT_THAT(arms_of(results, false), ElementsAre("new", "old"));
  EXPECT_THAT(arms_of(results, true), ElementsAre("new-aggregate", "new-framing", "new-staging",
                                                  "old+aggregate", "old+framing"));
  for (const json& trial : results.at("trials")) EXPECT_EQ(trial.at("status"), "ok");
  for (const json& pair : results.at("equivalence")) EXPECT_EQ(pair.at("bit_identical"), true);
  for (const json& gate : results.at("gates")) EXPECT_EQ(gate.at("candidate"), "new");
  for (const char* role : {"server", "client_max"}) {
    const json aggregate = row(results, "aggregate", role);
    ASSERT_FALSE(aggregate.is_null()) << role;
    EXPECT_EQ(aggregate.at("added_alone").at("n"), 2);
    EXPECT_GT(aggregate.at("added_alone").at("ratio"), 0);
    EXPECT_EQ(aggregate.at("added_alone").at("reason"), "too few trials: 2 of at least 5");
    const json staging = row(results, "staging", role);
    EXPECT_THAT(staging.at("added_alone").at("reason").get<std::string>(),
                HasSubstr("needs aggregate=streaming_fold"));
    EXPECT_EQ(staging.at("removed_alone").at("n"), 2);
  }
  // A state kept twice instead of once, on a server that holds little else.
  EXPECT_GT(row(results, "staging", "server").at("removed_alone").at("difference"),
            kStateBytes / 2);
  std::set<std::string> phases;
  for (const json& one : results.at("ablation"))
    if (!one.at("phase").is_null()) phases.insert(one.at("phase"));
  EXPECT_THAT(phases, testing::IsSupersetOf({"upload", "aggregate", "broadcast", "train"}));
  EXPECT_THAT(run.out, AllOf(HasSubstr("Ablation"), HasSubstr("no effect here"),
                             HasSubstr("interaction"), HasSubstr("Limitation")));

  for (const json& bound : results.at("lower_bounds")) {
    EXPECT_EQ(bound.at("bytes"), kStateBytes);
    EXPECT_GE(bound.at("multiples").at("new"), 0.95) << "no role can do with less than its model";
  }
  EXPECT_EQ(results.at("lower_bounds").size(), 2U);
}

TEST_F(Ablate, GoesOnWhereItStoppedAndItsConfigRunsAsItIs) {
  ASSERT_EQ(ablate({"--repeats", "1", "--quiet", "--candidate", "middle"}).status, 0);
  const json once = results_in(place.path("run"));
  const Finished again = ablate({"--repeats", "1", "--resume", "--candidate", "middle"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(results_in(place.path("run")).at("trials"), once.at("trials"));
  EXPECT_EQ(once.at("experiment").at("name"), "small-ablation");
  const Finished as_config = memduel(
      place, {"run", place.path("run") / "config.json", "--out", place.path("run"), "--resume"});
  EXPECT_EQ(as_config.status, 0) << as_config.err;
}

TEST_F(Ablate, NamesTheArmsThatThereAre) {
  const Finished unknown = ablate({"--candidate", "nev"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("--candidate"), HasSubstr("did you mean \"new\"")));
  const Finished same = ablate({"--candidate", "old"});
  EXPECT_EQ(same.status, 2);
  EXPECT_THAT(same.err, HasSubstr("have the same switches"));
}

}  // namespace
}  // namespace memduel
