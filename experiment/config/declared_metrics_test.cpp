#include "experiment/config/declared_metrics.h"

#include <gmock/gmock.h>

#include "experiment/config/test_support.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

json logging_config() {
  return json::parse(R"json({
    "name": "job",
    "workload": {"kind": "command", "processes": [{"role": "server", "argv": ["./server"]}],
      "metrics": {"throughput": {"better": "higher"}},
      "marks": [{"role": "server", "pattern": "(?<lower_loss>\\S+) (?<metric_throughput>\\S+) (?<metric_steps>\\d+)"}]},
    "arms": [{"name": "before"}, {"name": "after", "append": {"server": ["--optimized"]}}],
    "baseline": "before"})json");
}

Experiment logging_experiment(const json& document) {
  return parse_experiment(document.dump(), "c.json", "/job", {}, small_provider());
}

std::string refusal_of_metrics(const json& document) {
  const Error error = error_of([&] { logging_experiment(document); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  return error.message();
}

TEST(DeclaredMetrics, AreThoseOfTheKeyAndOfThePatterns) {
  const Experiment experiment = logging_experiment(logging_config());
  EXPECT_THAT(experiment.facts.better,
              ElementsAre(Pair("loss", Direction::lower), Pair("steps", Direction::undeclared),
                          Pair("throughput", Direction::higher)));
  EXPECT_THAT(logging_experiment(experiment.resolved).facts.better, testing::SizeIs(3))
      << "of the config as it is kept";
}

TEST(DeclaredMetrics, ThatContradictEachOtherAreRefusedAtTheirPlace) {
  json of_key_and_pattern = logging_config();
  of_key_and_pattern["workload"]["metrics"]["loss"]["better"] = "higher";
  EXPECT_THAT(refusal_of_metrics(of_key_and_pattern),
              AllOf(HasSubstr("c.json, $.workload.marks[0].pattern: found that lower is better for "
                              "loss, but higher is better by $.workload.metrics.loss.better"),
                    HasSubstr("declare it once")));
  json of_two_patterns = logging_config();
  of_two_patterns["workload"]["marks"].push_back(
      {{"role", "server"}, {"from", "stderr"}, {"pattern", "(?<higher_loss>\\S+)"}});
  EXPECT_THAT(refusal_of_metrics(of_two_patterns), HasSubstr("$.workload.marks[1].pattern"));
  json of_the_table = logging_config();
  of_the_table["workload"]["metrics"]["train_loss"]["better"] = "higher";
  EXPECT_THAT(refusal_of_metrics(of_the_table),
              HasSubstr("found that higher is better for train_loss, but lower is better by "
                        "memduel list metrics"));
}

TEST(DeclaredMetrics, NeedAWordThatIsOne) {
  json document = logging_config();
  document["workload"]["metrics"]["throughput"]["better"] = "hihger";
  EXPECT_THAT(refusal_of_metrics(document), AllOf(HasSubstr("$.workload.metrics.throughput.better"),
                                                  HasSubstr("did you mean \"higher\"?")));
}

}  // namespace
}  // namespace memduel
