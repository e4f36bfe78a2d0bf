#include "reports/formats/github.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/testing/sample_run.h"

namespace memduel {
namespace {

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

TEST(GitHubAnnotations, ChooseTheCommandByTheOutcome) {
  EXPECT_EQ(render_github(with_gate(GateOutcome::failed, "3 % more")),
            "::error title=memduel%3A gate failed::server.peak_rss_bytes<=+2%25 (optimized): 3 %25 "
            "more\n");
  EXPECT_THAT(render_github(with_gate(GateOutcome::undecided, "")),
              testing::StartsWith("::warning "));
  EXPECT_THAT(render_github(with_gate(GateOutcome::passed, "")), testing::StartsWith("::notice "));
}

TEST(GitHubAnnotations, AreErrorsWhereTheExitCodeIs) {
  ReportModel model = with_gate(GateOutcome::failed, "3 % more");
  model.results.gates.front().advisory = true;
  model.results.gates.front().exit_code = 0;
  EXPECT_THAT(render_github(model),
              testing::StartsWith("::notice title=memduel%3A advisory gate failed::"));
  model = with_gate(GateOutcome::undecided, "+419 %");
  model.results.gates.front().exit_code = 5;
  EXPECT_THAT(render_github(model),
              testing::StartsWith("::error title=memduel%3A gate inconclusive::"));
}

TEST(GitHubAnnotations, KeepAHostileReasonOnItsLine) {
  EXPECT_THAT(render_github(with_gate(GateOutcome::failed, "a\n::set-output name=x::y\r")),
              testing::HasSubstr("a%0A::set-output name=x::y%0D\n"));
}

}  // namespace
}  // namespace memduel
