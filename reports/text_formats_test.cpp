#include "reports/text_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test_golden.h"
#include "test_sample_run.h"

namespace memduel {
namespace {

TEST(CsvReport, HasOneLinePerValueOfTrialRoundAndPhase) {
  ReportModel model;
  TrialData trial;
  trial.id = 7;
  trial.block = 3;
  trial.position = 1;
  trial.arm = "a,b";
  trial.status = TrialStatus::killed_for_memory;
  RoleData role;
  role.role = "server";
  role.metrics = {{"peak_rss_bytes", 4096.0 * 1024 * 1024}};
  role.rounds = {{2, 0, 0, {{"round_seconds", 0.125}}, {{"train", 0, 0, {{"peak_rss_bytes", 3}}}}}};
  trial.roles.push_back(role);
  model.results.trials.push_back(trial);
  EXPECT_EQ(render_csv(model),
            "trial,block,position,variant,kind,status,role,round,phase,metric,value,profiler\n"
            "7,3,1,\"a,b\",measure,killed_for_memory,server,,,peak_rss_bytes,4294967296,\n"
            "7,3,1,\"a,b\",measure,killed_for_memory,server,2,,round_seconds,0.125,\n"
            "7,3,1,\"a,b\",measure,killed_for_memory,server,2,train,peak_rss_bytes,3,\n");
  model.results.trials[0].kind = TrialKind::profile;
  model.results.trials[0].tracer = "heaptrack";
  EXPECT_NE(render_csv(model).find("profile,killed_for_memory,server,2,,round_seconds,0.125,"
                                   "heaptrack\n"),
            std::string::npos);
}

ReportModel with_gate(GateOutcome outcome, const std::string& reason) {
  ReportModel model = sample_model({});
  GateResult gate;
  gate.gate = "server.peak_rss_bytes<=+2%";
  gate.candidate = "optimized";
  gate.outcome = outcome;
  gate.reason = reason;
  gate.exit_code = outcome == GateOutcome::failed ? 1 : 0;
  model.results.gates = {gate};
  return model;
}

std::string github_of(const ReportModel& model) {
  return render_github(document_of(model));
}

TEST(GitHubAnnotations, BeginWithTheResult) {
  EXPECT_THAT(github_of(with_gate(GateOutcome::passed, "")),
              testing::StartsWith("::notice title=memduel%3A PASS::optimized uses 39.7%25 less "));
}

TEST(GitHubAnnotations, NameTheFileAndLineOfTheLargestCause) {
  ReportModel model = with_gate(GateOutcome::failed, "3% more");
  model.results.gates.front().role = "server";
  model.results.gates.front().metric = "peak_rss_bytes";
  Cause cause;
  cause.more = true;
  cause.location = "train.py:12";
  cause.candidate = "optimized";
  cause.row_role = "server";
  cause.metric = "peak_rss_bytes";
  Cause of_another = cause;
  of_another.candidate = "another";
  of_another.location = "other.py:7";
  model.causes = {of_another, cause};
  EXPECT_THAT(github_of(model), testing::HasSubstr("\n::error file=train.py,line=12,title="));
}

TEST(GitHubAnnotations, ChooseTheCommandByTheOutcome) {
  EXPECT_THAT(
      github_of(with_gate(GateOutcome::failed, "3% more")),
      testing::HasSubstr(
          "\n::error title=memduel%3A gate failed::server.peak_rss_bytes<=+2%25 (optimized): 3%25 "
          "more\n"));
  EXPECT_THAT(github_of(with_gate(GateOutcome::inconclusive, "")),
              testing::HasSubstr("\n::warning "));
  EXPECT_THAT(github_of(with_gate(GateOutcome::passed, "")), testing::HasSubstr("\n::notice "));
}

TEST(GitHubAnnotations, AreErrorsWhereTheExitCodeIs) {
  ReportModel model = with_gate(GateOutcome::failed, "3% more");
  model.results.gates.front().advisory = true;
  model.results.gates.front().exit_code = 0;
  EXPECT_THAT(github_of(model),
              testing::HasSubstr("\n::notice title=memduel%3A advisory gate failed::"));
  model = with_gate(GateOutcome::inconclusive, "+419%");
  model.results.gates.front().exit_code = 5;
  EXPECT_THAT(github_of(model),
              testing::HasSubstr("\n::error title=memduel%3A gate inconclusive::"));
}

TEST(GitHubAnnotations, KeepAHostileReasonOnItsLine) {
  EXPECT_THAT(github_of(with_gate(GateOutcome::failed, "a\n::set-output name=x::y\r")),
              testing::HasSubstr("a%0A::set-output name=x::y%0D\n"));
}

GateResult gate(const std::string& name, GateOutcome outcome, const std::string& reason) {
  GateResult result;
  result.gate = name;
  result.candidate = "optimized";
  result.outcome = outcome;
  result.reason = reason;
  result.exit_code = outcome == GateOutcome::failed ? 1 : 0;
  return result;
}

std::string junit_of(std::vector<GateResult> gates) {
  ReportModel model;
  model.name = "quick<start>";
  model.results.gates = std::move(gates);
  return render_junit(document_of(model));
}

TEST(JunitReport, HasOneCasePerGate) {
  EXPECT_EQ(junit_of({gate("server.peak_rss_bytes<=+1%", GateOutcome::passed, "fine"),
                      gate("all.peak_rss_bytes<=+1%", GateOutcome::failed, "12% more"),
                      gate("all.peak_pss_bytes<=+1%", GateOutcome::inconclusive, "4 blocks")}),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="quick&lt;start&gt;" tests="3" failures="1" errors="0" skipped="1">
  <testcase classname="memduel.optimized" name="server.peak_rss_bytes&lt;=+1%"/>
  <testcase classname="memduel.optimized" name="all.peak_rss_bytes&lt;=+1%">
    <failure message="12% more"/>
  </testcase>
  <testcase classname="memduel.optimized" name="all.peak_pss_bytes&lt;=+1%">
    <skipped message="inconclusive: 4 blocks"/>
  </testcase>
</testsuite>
)");
}

TEST(JunitReport, NeverFailsForAnAdvisoryGate) {
  GateResult advisory = gate("all.peak_rss_bytes<=+1%", GateOutcome::failed, "12% more");
  advisory.advisory = true;
  advisory.exit_code = 0;
  const std::string xml = junit_of({advisory});
  EXPECT_THAT(xml, testing::HasSubstr("failures=\"0\""));
  EXPECT_THAT(xml, testing::HasSubstr("<skipped message=\"advisory: 12% more\"/>"));
}

TEST(JunitReport, HasAnErrorForAGateThatWasNotMeasured) {
  GateResult dead = gate("all.peak_heap_bytes<=+1%", GateOutcome::inconclusive, "it crashed");
  dead.not_measured = true;
  dead.exit_code = 3;
  GateResult advisory = dead;
  advisory.advisory = true;
  advisory.exit_code = 0;
  EXPECT_THAT(junit_of({dead, advisory}),
              testing::AllOf(testing::HasSubstr("failures=\"0\" errors=\"1\" skipped=\"1\""),
                             testing::HasSubstr("<error message=\"it crashed\"/>"),
                             testing::HasSubstr("<skipped message=\"advisory: it crashed\"/>")));
}

TEST(JunitReport, FailsForAnInconclusiveGateThatMakesTheExitCode) {
  GateResult beyond = gate("all.peak_rss_bytes<=+1%", GateOutcome::inconclusive, "+419%");
  beyond.exit_code = 5;
  EXPECT_THAT(junit_of({beyond}), testing::HasSubstr("<failure message=\"inconclusive: +419%\"/>"));
}

TEST(JunitReport, NamesTheRoleOfAGateOnAllRoles) {
  GateResult of_server = gate("*.peak_rss_bytes<=900MiB", GateOutcome::passed, "fine");
  of_server.role = "server";
  EXPECT_THAT(junit_of({of_server}),
              testing::HasSubstr("name=\"server.peak_rss_bytes&lt;=900MiB\""));
}

TEST(JunitReport, EscapesWhatOthersWrote) {
  const Sample sample = make_sample({.blocks = 1, .series = false, .hostile = true});
  const std::string xml = render_junit(document_of(build_report_model(sample.results, sample.run)));
  EXPECT_THAT(xml, testing::Not(testing::HasSubstr("<script")));
  EXPECT_THAT(xml, testing::Not(testing::HasSubstr("\x1B")));
}

using nlohmann::json;

constexpr const char* kPeak = "peak_rss_above_idle_bytes";

double median_of(const Results& results, const std::string& role) {
  for (const Comparison& c : results.comparisons)
    if (c.role == role && c.metric == kPeak) return c.candidate_median.value_or(0);
  return 0;
}

TEST(Bencher, HasAValueForEachMeasureOfEachBenchmark) {
  const ReportModel model = sample_model({.series = false});
  const json all = json::parse(render_bencher(model));
  EXPECT_EQ(all.at("server of optimized").at(kPeak).at("value").get<double>(),
            median_of(model.results, "server"));
  EXPECT_TRUE(all.contains("server of original"));
  for (const auto& [benchmark, measures] : all.items())
    for (const auto& [measure, number] : measures.items())
      EXPECT_TRUE(number.at("value").is_number()) << benchmark << measure;
}

TEST(BenchmarkAction, IsAListOfNamesUnitsAndValues) {
  const ReportModel model = sample_model({.candidates = 2, .series = false});
  const json all = json::parse(render_benchmark_action(model));
  int found = 0;
  std::set<std::string> names;
  for (const json& one : all) {
    EXPECT_TRUE(one.at("value").is_number());
    EXPECT_TRUE(names.insert(one.at("name")).second) << "each number once";
    if (one.at("name") != std::string("server of original: ") + kPeak) continue;
    EXPECT_EQ(one.at("unit"), "bytes");
    ++found;
  }
  EXPECT_EQ(found, 1) << "though two candidates are compared with it";
}

TEST(BenchmarkAction, OfARunWithoutTrialsIsAnEmptyList) {
  EXPECT_EQ(render_benchmark_action(sample_model({.blocks = -1})), "[]\n");
}

// benchstat of golang.org/x/perf reads the file and prints the same medians.
TEST(Benchstat, HasALineForEachTrialAndRoleBelowItsVariant) {
  expect_golden("benchstat.txt", render_benchstat(sample_model({.series = false})));
}

TEST(Benchstat, HasNamesWithoutSpaces) {
  ReportModel model = sample_model({.series = false});
  model.results.name = "my run";
  EXPECT_THAT(render_benchstat(model), testing::HasSubstr("\nBenchmarkMy_run/role=server\t1\t"));
}

TEST(Hyperfine, HasTheParametersOfAScan) {
  ReportModel model = sample_model({.series = false});
  model.config.variants.resize(2);
  model.config.variants[0].name = "original";
  model.config.variants[1].name = "optimized";
  model.config.variants[1].parameters = {{"threads", "4"}};
  const json results = json::parse(render_hyperfine_json(model)).at("results");
  EXPECT_EQ(results.back().at("parameters"), json({{"threads", {{"value", "4"}}}}));
  EXPECT_FALSE(results.front().contains("parameters"));
  for (Variant& variant : model.config.variants) variant.parameters = {{"threads", "4"}};
  EXPECT_THAT(render_hyperfine_csv(model), testing::ContainsRegex(",parameter_threads\n.*,4\n"));
}

TEST(Bencher, TakesAnyName) {
  const ReportModel model = sample_model({.series = false, .hostile = true});
  EXPECT_TRUE(json::parse(render_bencher(model)).is_object());
}

}  // namespace
}  // namespace memduel
