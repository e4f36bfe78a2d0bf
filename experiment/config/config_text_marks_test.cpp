#include "experiment/config/config_text_marks.h"

#include <gmock/gmock.h>

#include "experiment/config/test_support.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json marked_config() {
  return json::parse(R"json({
    "name": "job",
    "workload": {"kind": "command", "processes": [
      {"role": "server", "argv": ["./server"]},
      {"role": "client", "count": 2, "argv": ["./client"]}],
      "match": [{"role": "trainer", "pattern": "train\\.py"}],
      "marks": [
        {"role": "trainer", "from": {"file": "train.log"}, "pattern": "Epoch (\\d+)"},
        {"role": "server", "pattern": "Round (\\d+)"},
        {"role": "server", "from": "stderr", "pattern": "acc (?<metric_accuracy>\\S+)"},
        {"role": "client", "from": {"file": "client-{index}.log"}, "pattern": "Round (\\d+)"},
        {"role": "client-2", "from": {"file": "/var/log/two"}, "pattern": "phase (?<phase>\\w+)"}]},
    "arms": [{"name": "before"}, {"name": "after", "append": {"server": ["--optimized"]}}],
    "baseline": "before"})json");
}

Experiment experiment_of(const json& document) {
  return parse_experiment(document.dump(), "c.json", "/job", {}, small_provider());
}

std::string refusal_of_mark(const json& mark) {
  json document = marked_config();
  document["workload"]["marks"] = {mark};
  const Error error = error_of([&] { experiment_of(document); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  return error.message();
}

TEST(TextMarksConfig, OfARoleWithACountMarkEachOfItsProcesses) {
  const Experiment experiment = experiment_of(marked_config());
  auto specs = planned_text_marks(experiment.job, [](TextMarkSpec& mark, int index) {
    if (mark.from == TextMarkSpec::From::file) mark.file += "#" + std::to_string(index);
  });
  using From = TextMarkSpec::From;
  ASSERT_EQ(specs.size(), 6U);
  EXPECT_EQ(specs[0].role, "trainer");
  EXPECT_EQ(specs[0].file, "{trial_dir}/train.log#1");
  specs.erase(specs.begin());
  EXPECT_EQ(specs[0].role, "server");
  EXPECT_EQ(specs[0].from, From::standard_output);
  EXPECT_EQ(specs[1].from, From::standard_error);
  EXPECT_EQ(specs[2].role, "client-1");
  EXPECT_EQ(specs[2].file, "{trial_dir}/client-{index}.log#1");
  EXPECT_EQ(specs[3].role, "client-2");
  EXPECT_EQ(specs[3].file, "{trial_dir}/client-{index}.log#2");
  EXPECT_EQ(specs[4].role, "client-2");
  EXPECT_EQ(specs[4].file, "/var/log/two#2");
}

TEST(BadTextMarks, AreRefusedWithTheirPlaceAndTheNearestName) {
  EXPECT_THAT(
      refusal_of_mark({{"role", "sever"}, {"pattern", "(1)"}}),
      testing::AllOf(HasSubstr("$.workload.marks[0].role"), HasSubstr("did you mean \"server\"?")));
  EXPECT_THAT(
      refusal_of_mark({{"role", "server"}, {"from", "stdou"}, {"pattern", "(1)"}}),
      testing::AllOf(HasSubstr("$.workload.marks[0].from"), HasSubstr("did you mean \"stdout\"?")));
  EXPECT_THAT(refusal_of_mark({{"role", "server"}, {"from", json::object()}, {"pattern", "(1)"}}),
              HasSubstr("no key \"file\""));
  EXPECT_EQ(refusal_of_mark({{"role", "server"}, {"pattern", "Round (\\d+"}}),
            "c.json, $.workload.marks[0].pattern: \"Round (\\d+\" is not a regular expression: "
            "missing closing parenthesis at character 11");
  EXPECT_THAT(refusal_of_mark({{"role", "server"}, {"pattern", "Round (?<rund>\\d+)"}}),
              HasSubstr("did you mean \"round\"?"));
}

}  // namespace
}  // namespace memduel
