#include <gmock/gmock.h>

#include "reports/pages.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

Comparison row(const std::string& candidate, const std::string& metric, Verdict verdict) {
  Comparison made;
  made.baseline = "original";
  made.candidate = candidate;
  made.role = "server";
  made.metric = metric;
  made.gate = true;
  made.verdict = verdict;
  made.ratio = 0.5;
  made.ci_low = 0.4;
  made.ci_high = 0.6;
  made.n_baseline = made.n_candidate = 8;
  return made;
}

Results results_with(const std::vector<Comparison>& rows, GateOutcome outcome) {
  Results results;
  results.comparisons = rows;
  GateResult gate;
  gate.outcome = outcome;
  results.gates = {gate};
  return results;
}

TEST(SuitePage, EachCandidateIsALineOfTheRowsThatGatesName) {
  Comparison advisory = row("a", "minor_faults_count", Verdict::improved);
  advisory.gate = false;
  const SuiteEntry entry =
      suite_entry("x", results_with({row("a", "peak_rss_bytes", Verdict::improved),
                                     row("b", "peak_rss_bytes", Verdict::regressed), advisory},
                                    GateOutcome::passed));
  ASSERT_THAT(entry.lines, SizeIs(2));
  EXPECT_EQ(entry.lines[0].candidate, "a");
  EXPECT_THAT(entry.lines[0].cells, SizeIs(1));
  EXPECT_EQ(entry.lines[0].cells[0].quantity, "peak RSS");
  EXPECT_EQ(entry.lines[1].cells[0].verdict, Verdict::regressed);
}

TEST(SuitePage, ShowsTheAnswerToEachRun) {
  Results results = results_with({}, GateOutcome::inconclusive);
  results.overall = {OverallOutcome::inconclusive, 5, {}, {}};
  EXPECT_EQ(suite_entry("x", results).outcome, SuiteOutcome::undecided);
  EXPECT_EQ(suite_entry("x", results).exit_code, 5);
  results.overall = {OverallOutcome::failed, 1, {}, {}};
  EXPECT_EQ(suite_entry("x", results).outcome, SuiteOutcome::failed);
  results.overall = {OverallOutcome::not_measured, 3, {}, "no trial was measured"};
  EXPECT_EQ(suite_entry("x", results).outcome, SuiteOutcome::broken);
  EXPECT_EQ(suite_entry("x", results).problem, "no trial was measured");
}

TEST(SuitePage, NamesOfOthersAreText) {
  SuiteIndex index;
  index.name = "<script>alert(1)</script>";
  index.entries = {suite_entry(
      "x\"><img src=y>",
      results_with({row("<b>", "peak_rss_bytes", Verdict::improved)}, GateOutcome::passed))};
  const std::string page = render_suite_page(index);
  EXPECT_THAT(page,
              AllOf(Not(HasSubstr("<script>")), Not(HasSubstr("<img")), Not(HasSubstr("<b>"))));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

TEST(SuitePage, AnExperimentWithoutReportHasNoLink) {
  SuiteIndex index;
  index.name = "s";
  index.entries.resize(2);
  index.entries[0].name = "later";
  index.entries[1].name = "broken";
  index.entries[1].outcome = SuiteOutcome::broken;
  index.entries[1].problem = "the baseline failed";
  EXPECT_THAT(render_suite_page(index), AllOf(Not(HasSubstr("<a ")), HasSubstr("not run yet"),
                                              HasSubstr("the baseline failed")));
  EXPECT_EQ(suite_summary(index), "2 experiments; could not be measured: 1, not run yet: 1");
}

TEST(SuitePage, TheJsonSaysWhatThePageSays) {
  SuiteIndex index;
  index.name = "s";
  Results results =
      results_with({row("a", "peak_rss_bytes", Verdict::improved)}, GateOutcome::failed);
  results.overall = {OverallOutcome::failed, 1, {}, {}};
  index.entries = {suite_entry("x", results)};
  const nlohmann::json written = suite_json(index);
  EXPECT_EQ(written.at("schema"), "memduel.suite/2");
  const nlohmann::json& one = written.at("experiments").at(0);
  EXPECT_EQ(one.at("outcome"), "gate failed");
  EXPECT_EQ(one.at("exit_code"), 1);
  EXPECT_EQ(one.at("variants").at(0).at("rows").at(0).at("verdict"), "improved");
}

}  // namespace
}  // namespace memduel
