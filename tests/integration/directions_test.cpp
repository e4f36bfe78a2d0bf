// Which values of a job's own metrics are better: what its config, its log patterns and its program
// declare, from the real program to the verdicts, the gates and the reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memduel_program.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Directions : public testing::Test {
 protected:
  /// Prints and sends FACTOR times as much of everything; BETTER is what it declares of hit_ratio.
  Directions() {
    script_ = place_.file("job.py", "import sys\nsys.path.insert(0, '" MEMDUEL_ANNOTATE R"(')
import memduel_annotate as memduel
factor, better = float(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
memduel.round_begin(1)
print('throughput', 100 * factor, flush=True)
print('loss', 0.25 * factor, flush=True)
print('accuracy', 0.25 * factor, flush=True)
memduel.gauge('hit_ratio', 0.25 * factor, better)
memduel.gauge('queue_depth', 5 * factor)
memduel.round_end(1)
)");
  }

  [[nodiscard]] json argv(const char* factor, const char* better) const {
    return {"python3", script_, factor, better};
  }

  /// @param of_x, of_y what the two variants declare of hit_ratio.
  std::string config(const char* of_x, const char* of_y) const {
    const json document = {
        {"name", "own"},
        {"baseline", "x"},
        {"default_gates", false},
        {"workload",
         {{"kind", "command"},
          {"processes", {{{"role", "srv"}, {"argv", argv("1", of_x)}}}},
          {"metrics", {{"throughput", {{"better", "higher"}}}}},
          {"marks",
           {{{"role", "srv"}, {"pattern", "throughput (?<metric_throughput>\\S+)"}},
            {{"role", "srv"}, {"pattern", "^loss (?<lower_loss>\\S+)"}},
            {{"role", "srv"}, {"pattern", "^accuracy (?<metric_accuracy>\\S+)"}}}}}},
        {"variants", {{{"name", "x"}}, {{"name", "y"}, {"argv", {{"srv", argv("2", of_y)}}}}}},
        {"profile", {{"trials", 0}}},
        {"measure", {{"repeats", 4}, {"warmups", 0}, {"seed", 3}}}};
    return place_.file("own.json", document.dump());
  }

  std::string run(const std::string& config, const char* name) const {
    std::string directory = place_.path(name).string();
    const Finished done = memduel(place_, {"run", config, "--out", directory});
    EXPECT_EQ(done.status, 0) << done.err << done.out;
    return directory;
  }

  static std::string verdict(const json& results, const char* metric) {
    return comparison(results, "srv", metric).value("verdict", "none");
  }

  Workplace place_;
  std::string script_;
};

TEST_F(Directions, WhatIsDeclaredDecidesWhetherMoreIsBetter) {
  const std::string directory = run(config("higher", "higher"), "declared");
  const json results = results_in(directory);
  EXPECT_EQ(results["job"]["better"], json::parse(R"({"accuracy": "undeclared",
    "hit_ratio": "higher", "loss": "lower", "throughput": "higher"})"));
  EXPECT_EQ(verdict(results, "throughput"), "improved") << "by the config";
  EXPECT_EQ(verdict(results, "loss"), "regressed") << "by its pattern";
  EXPECT_EQ(verdict(results, "hit_ratio"), "improved") << "by the program";
  EXPECT_EQ(verdict(results, "accuracy"), "changed");
  EXPECT_EQ(verdict(results, "queue_depth"), "changed");
  EXPECT_THAT(comparison(results, "srv", "accuracy")["reason"].get<std::string>(),
              HasSubstr("whether higher or lower values are better is not declared"));
  const auto report = [&](const char* format) {
    return memduel(place_, {"report", directory, "--format", format}).out;
  };
  EXPECT_THAT(report("markdown"), testing::ContainsRegex("\\| queue.*depth \\|.*2.0×.*changed"));
  EXPECT_THAT(report("json"), HasSubstr("\"changed\""));
  EXPECT_THAT(memduel(place_, {"explain", directory, "srv.accuracy"}).out,
              HasSubstr("Verdict: changed"));
}

TEST_F(Directions, AGateNeedsADirectionUnlessItIsACeiling) {
  const std::string directory = run(config("higher", "higher"), "gated");
  const auto check = [&](const char* gate) {
    return memduel(place_, {"check", directory, "--gate", gate});
  };
  EXPECT_EQ(check("srv.throughput<=+1%").status, 0);
  EXPECT_EQ(check("srv.loss<=+1%").status, 1);
  EXPECT_EQ(check("srv.hit_ratio<=+1%").status, 0);
  EXPECT_EQ(check("srv.accuracy<=0.5").status, 0);
  EXPECT_EQ(check("srv.accuracy<=0.4").status, 1);
  for (const char* gate : {"srv.accuracy<=+1%", "srv.queue_depth<=+1"}) {
    const Finished refused = check(gate);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("whether higher or lower is better"),
                                   HasSubstr("workload.metrics")));
  }
  const Finished ceiling = check("srv.throughput<=100");
  EXPECT_EQ(ceiling.status, 2);
  EXPECT_THAT(ceiling.err, HasSubstr("higher is better for throughput"));
  const Finished never = memduel(place_, {"run", place_.path("own.json"), "--out",
                                          place_.path("never"), "--gate", "srv.accuracy<=+1%"});
  EXPECT_EQ(never.status, 2) << "before the first trial";
  EXPECT_FALSE(std::filesystem::exists(place_.path("never")));
}

TEST_F(Directions, ProgramsThatContradictEachOtherDeclareNothing) {
  const std::string directory = run(config("lower", "higher"), "contradiction");
  const json results = results_in(directory);
  EXPECT_EQ(verdict(results, "hit_ratio"), "changed");
  EXPECT_EQ(results["job"]["better"]["hit_ratio"], "undeclared");
  EXPECT_THAT(results["warnings"].dump(), HasSubstr("metric_direction_contradicts"));
  const Finished later = memduel(place_, {"report", directory, "--format", "json"});
  EXPECT_THAT(later.out, HasSubstr("metric_direction_contradicts"));
}

TEST_F(Directions, AWatchedJobsPatternAndProgramDeclareThem) {
  for (const char* factor : {"1", "2"}) {
    const std::string directory = place_.path(std::string("watch-") + factor).string();
    const Finished done = memduel(place_, {"watch", "--out", directory, "--round-pattern",
                                           "throughput (?<higher_throughput>\\S+)", "--", "python3",
                                           place_.path("job.py").string(), factor, "lower"});
    ASSERT_EQ(done.status, 0) << done.err;
  }
  const Finished compared =
      memduel(place_, {"compare", place_.path("watch-1"), place_.path("watch-2"), "--export",
                       "json", place_.path("both.json").string(), "--on-inconclusive", "pass"});
  const json better = results_in(place_.path("watch-1"))["job"]["better"];
  EXPECT_EQ(better["throughput"], "higher");
  EXPECT_EQ(better["hit_ratio"], "lower");
  EXPECT_THAT(compared.err + compared.out, Not(HasSubstr("metric_direction_contradicts")));
}

}  // namespace
}  // namespace memduel
