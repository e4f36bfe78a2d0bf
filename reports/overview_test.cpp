#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/report_model.h"
#include "test_sample_run.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// Words of the sample's two arms in a config with such processes and arms.
std::vector<std::string> words_of(const json& processes, const json& original,
                                  const json& optimized, bool confidential = false) {
  Sample sample = make_sample({.series = false});
  json first = original;
  json second = optimized;
  first["name"] = "original";
  second["name"] = "optimized";
  json config = {{"variants", {first, second}}};
  if (!processes.is_null()) config["workload"] = {{"processes", processes}};
  sample.run.config = document_of_run(config);
  ReportOptions options;
  options.confidential = confidential;
  std::vector<std::string> words;
  for (const ComparedArm& arm : build_report_model(sample.results, sample.run, options).compared)
    words.push_back(arm.words);
  return words;
}

const json kOne = json::parse(R"([{"role": "command", "argv": ["./sort", "my file"]}])");
const json kTwo = json::parse(R"([{"role": "server", "argv": ["s"]},
                                  {"role": "client", "argv": ["c"]}])");

TEST(ComparedArms, OfOneProcessAreItsCommands) {
  EXPECT_THAT(
      words_of(kOne, json::object(), json::parse(R"({"argv": {"command": ["./sort2", "-x"]}})")),
      ElementsAre("./sort 'my file'", "./sort2 -x"));
  EXPECT_THAT(words_of(kOne, json::parse(R"({"env": {"A": "1"}})"),
                       json::parse(R"({"allocator": "jemalloc", "cwd": "/new"})")),
              ElementsAre("A=1 ./sort 'my file'", "./sort 'my file' under jemalloc in /new"));
}

TEST(ComparedArms, OfSeveralProcessesAreWhatTheyChange) {
  EXPECT_THAT(
      words_of(kTwo, json::object(),
               json::parse(R"({"argv": {"server": ["s2"]}, "append": {"client": ["-q"]}})")),
      ElementsAre("server: s client: c", "server: s2 client: adds -q"));
  EXPECT_THAT(words_of(kTwo, json::object(), json::parse(R"({"env": {"A": "1"}})")),
              ElementsAre("the baseline", "A=1"));
}

TEST(ComparedArms, OfRevisionsAreTheirSubjectsAndThePathsBelowTheWorktrees) {
  Sample sample = make_sample({.series = false});
  sample.run.config = document_of_run(json::parse(R"({
    "workload": {"processes": [{"role": "command", "cwd": "/w/a", "argv": ["/w/a/src/lua", "x"]}]},
    "variants": [{"name": "original"},
             {"name": "optimized", "cwd": "/w/b", "argv": {"command": ["/w/b/src/lua", "x"]}}]})"));
  sample.results.environment["subjects"] = {{"original", "Release"}, {"optimized", "Collect"}};
  const ReportModel model = build_report_model(sample.results, sample.run);
  ASSERT_EQ(model.compared.size(), 2U);
  EXPECT_EQ(model.compared[0].words, "Release: src/lua x");
  EXPECT_EQ(model.compared[1].words, "Collect: src/lua x");
}

TEST(ComparedArms, OfSwitchesAreThoseThatDiffer) {
  const json original = json::parse(R"({"switches": {"a": "x", "b": 1, "c": "y"}})");
  const json optimized = json::parse(R"({"switches": {"a": "z", "b": 2, "c": "y"}})");
  EXPECT_THAT(words_of(nullptr, original, optimized), ElementsAre("the baseline", "a=z, b=2"));
}

TEST(ComparedArms, KeepAConfidentialReportsSecrets) {
  for (const std::string& words :
       words_of(kOne, json::parse(R"({"env": {"A": "secret"}})"),
                json::parse(R"({"argv": {"command": ["secret"]}})"), true))
    EXPECT_THAT(words, testing::Not(testing::AnyOf(HasSubstr("secret"), HasSubstr("file"))));
}

TEST(ComparedArms, AreNotToldFromAConfigThatIsNotTheirs) {
  Sample sample = make_sample({.series = false});
  for (const json& config :
       {json(nullptr), json("text"), json::parse(R"({"variants": [{"name": "another"}]})")}) {
    sample.run.config = document_of_run(config);
    const ReportModel model = build_report_model(sample.results, sample.run);
    EXPECT_TRUE(model.compared.empty());
  }
}

TEST(OverallSentence, CountsTheChecksAndSaysWhatItCosts) {
  EXPECT_EQ(sample_model({}).overall,
            "optimized: better on 1 of 2 checks, no different on 1; the same model; no slower.");
}

TEST(OverallSentence, BeginsWithAGateThatFailed) {
  Sample sample = make_sample();
  sample.results.gates[0].outcome = GateOutcome::failed;
  EXPECT_THAT(build_report_model(sample.results, sample.run).overall,
              testing::StartsWith("optimized: 1 gate failed; "));
}

TEST(OverallSentence, SaysWhyNothingWasCompared) {
  EXPECT_EQ(sample_model({.blocks = -1}).overall, "No verdict: no trial was measured.");
  EXPECT_THAT(sample_model({.candidates = 0}).overall,
              testing::StartsWith("original alone was measured, so nothing is compared: the whole "
                                  "job held at most "));
  EXPECT_EQ(sample_model({.all_failed = true}).overall,
            "No verdict: every trial of original failed; the first: server was killed by "
            "signal 9.");
}

TEST(LargestCauses, AreThreeOfTheWaterfallsLargest) {
  const ReportModel model = sample_model({.snapshots = true});
  ASSERT_FALSE(model.causes.empty());
  EXPECT_LE(model.causes.size(), 3U);
  double largest = 0;
  for (const WaterfallStep& step : model.resident.front().steps)
    if (!step.owner.empty() && std::abs(step.size) > std::abs(largest)) largest = step.size;
  EXPECT_EQ(model.causes.front().more, largest > 0);
}

TEST(LargestCauses, WithoutSnapshotsAreOfTheHeap) {
  const ReportModel model = sample_model({.differences = true});
  ASSERT_FALSE(model.causes.empty());
  EXPECT_EQ(model.causes.front().amount, "−200.0 MiB ± 4.00 MiB");
  EXPECT_THAT(model.causes.front().name, testing::StartsWith("clone"));
}

TEST(LargestCauses, AreNoneWithoutProfiles) {
  EXPECT_TRUE(sample_model({}).causes.empty());
}

}  // namespace
}  // namespace memduel
