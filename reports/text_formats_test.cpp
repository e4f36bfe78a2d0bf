#include "reports/formats/junit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/testing/sample_run.h"

namespace memduel {
namespace {

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
  model.title = "quick<start>";
  model.results.gates = std::move(gates);
  return render_junit(model);
}

TEST(JunitReport, HasOneCasePerGate) {
  EXPECT_EQ(junit_of({gate("server.peak_rss_bytes<=+1%", GateOutcome::passed, "fine"),
                      gate("tree.peak_rss_bytes<=+1%", GateOutcome::failed, "12 % more"),
                      gate("tree.peak_pss_bytes<=+1%", GateOutcome::undecided, "4 blocks")}),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="quick&lt;start&gt;" tests="3" failures="1" errors="0" skipped="1">
  <testcase classname="memduel.optimized" name="server.peak_rss_bytes&lt;=+1%"/>
  <testcase classname="memduel.optimized" name="tree.peak_rss_bytes&lt;=+1%">
    <failure message="12 % more"/>
  </testcase>
  <testcase classname="memduel.optimized" name="tree.peak_pss_bytes&lt;=+1%">
    <skipped message="inconclusive: 4 blocks"/>
  </testcase>
</testsuite>
)");
}

TEST(JunitReport, NeverFailsForAnAdvisoryGate) {
  GateResult advisory = gate("tree.peak_rss_bytes<=+1%", GateOutcome::failed, "12 % more");
  advisory.advisory = true;
  advisory.exit_code = 0;
  const std::string xml = junit_of({advisory});
  EXPECT_THAT(xml, testing::HasSubstr("failures=\"0\""));
  EXPECT_THAT(xml, testing::HasSubstr("<skipped message=\"advisory: 12 % more\"/>"));
}

TEST(JunitReport, HasAnErrorForAGateThatWasNotMeasured) {
  GateResult dead = gate("tree.peak_heap_bytes<=+1%", GateOutcome::undecided, "it crashed");
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
  GateResult beyond = gate("tree.peak_rss_bytes<=+1%", GateOutcome::undecided, "+419 %");
  beyond.exit_code = 5;
  EXPECT_THAT(junit_of({beyond}),
              testing::HasSubstr("<failure message=\"inconclusive: +419 %\"/>"));
}

TEST(JunitReport, NamesTheRoleOfAGateOnAllRoles) {
  GateResult of_server = gate("*.peak_rss_bytes<=900MiB", GateOutcome::passed, "fine");
  of_server.role = "server";
  EXPECT_THAT(junit_of({of_server}),
              testing::HasSubstr("name=\"server.peak_rss_bytes&lt;=900MiB\""));
}

TEST(JunitReport, EscapesWhatOthersWrote) {
  const Sample sample = make_sample({.blocks = 1, .series = false, .hostile = true});
  const std::string xml = render_junit(build_report_model(sample.results, sample.run));
  EXPECT_THAT(xml, testing::Not(testing::HasSubstr("<script")));
  EXPECT_THAT(xml, testing::Not(testing::HasSubstr("\x1B")));
}

}  // namespace
}  // namespace memduel
