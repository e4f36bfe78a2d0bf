#include <gmock/gmock.h>

#include <algorithm>

#include "test_document.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Headline, StatesTheAnswerTheNumbersAndTheExitCode) {
  const ReportDocument document = sample_document({.series = false});
  EXPECT_EQ(document.answer, Answer::pass);
  // 605 MiB to 365 MiB: see make_sample.
  EXPECT_EQ(document.sentence.plain(),
            "optimized uses 39.7% less memory (server) than original. Final model identical.");
  EXPECT_THAT(document.exit.plain(),
              StartsWith("Exit code 0: both default gates on peak RSS passed."));
  EXPECT_EQ(document.title, "Peak memory: optimized vs. original (baseline)");
}

TEST(Headline, NamesTheLimitOfAFailedGate) {
  Sample sample = make_sample({.series = false});
  GateResult& gate = sample.results.gates[0];
  Comparison& row = *std::ranges::find_if(
      sample.results.comparisons, [&](const Comparison& one) { return gate.asks_about(one); });
  row.baseline_median = 500e6;
  row.candidate_median = 529e6;
  row.ratio = 1.058;
  row.ci_low = 1.05;
  row.ci_high = 1.07;
  row.verdict = Verdict::regressed;
  gate.outcome = GateOutcome::failed;
  gate.exit_code = 1;
  gate.evidence.limit = 1.02;
  gate.evidence.quantity = GateQuantity::ratio;
  sample.results.overall = {OverallOutcome::failed, 1, std::nullopt, ""};
  const ReportDocument document = document_from(sample);
  EXPECT_EQ(document.answer, Answer::fail);
  EXPECT_THAT(document.sentence.plain(),
              StartsWith("optimized uses 5.8% more memory than original (server, limit +2%)."));
  EXPECT_EQ(document.exit.plain(),
            "Exit code 1: of 2 default gates, 1 failed (server peak RSS, limit +2%), 1 passed.");
  EXPECT_THAT(texts_of(row_named(table_in(document, "results"), "server")),
              testing::Contains("≤+2% ✗"));
}

TEST(Headline, OfAnInconclusiveRunStatesTheIntervalAndNoChange) {
  Sample sample = make_sample({.series = false});
  for (Comparison& row : sample.results.comparisons) row.verdict = Verdict::inconclusive;
  for (GateResult& gate : sample.results.gates) gate.outcome = GateOutcome::inconclusive;
  sample.results.overall = {OverallOutcome::inconclusive, 5, std::nullopt, ""};
  const ReportDocument document = document_from(sample);
  EXPECT_EQ(document.answer, Answer::inconclusive);
  EXPECT_THAT(
      document.sentence.plain(),
      StartsWith("optimized uses 39.4 to 40.0% less memory (server) than original (95% CI). 8 "
                 "trials each cannot tell whether that is more than the margin. Time per round is "
                 "inconclusive."));
}

TEST(Headline, StatesWhetherAChangeMeetsALimitOnAnImprovement) {
  Sample sample = make_sample({.series = false});
  for (Comparison& row : sample.results.comparisons) row.verdict = Verdict::inconclusive;
  for (GateResult& gate : sample.results.gates) {
    gate.outcome = GateOutcome::inconclusive;
    gate.evidence.quantity = GateQuantity::ratio;
    gate.evidence.limit = 0.6;
  }
  sample.results.overall = {OverallOutcome::inconclusive, 0, std::nullopt, ""};
  EXPECT_THAT(document_from(sample).sentence.plain(),
              HasSubstr("8 trials each cannot tell whether that meets the limit of −40%."));
  for (GateResult& gate : sample.results.gates) gate.outcome = GateOutcome::passed;
  sample.results.overall = {OverallOutcome::passed, 0, std::nullopt, ""};
  EXPECT_THAT(document_from(sample).sentence.plain(),
              StartsWith("optimized meets the limit of −40%: server peak RSS −39.7%"));
}

TEST(Headline, OfFailedTrialsGivesTheReason) {
  const ReportDocument document = sample_document({.series = false, .all_failed = true});
  EXPECT_NE(document.answer, Answer::pass);
  EXPECT_THAT(document.sentence.plain(), HasSubstr("failed"));
}

TEST(Headline, NamesTheVariantsWhoseTrialsFailed) {
  Sample sample = make_sample({.series = false});
  for (ArmSummary& arm : sample.results.arms) {
    arm.trials_ok = 5;
    arm.trials_failed = 3;
  }
  EXPECT_THAT(document_from(sample).sentence.plain(),
              StartsWith("original failed in 3 of 8 trials. optimized failed in 3 of 8 trials. "
                         "optimized uses 39.7% less memory"));
}

Comparison& row_of(Sample& sample, const std::string& candidate, const std::string& role,
                   const std::string& metric) {
  return *std::ranges::find_if(sample.results.comparisons, [&](const Comparison& row) {
    return row.candidate == candidate && row.role == role && row.metric == metric;
  });
}

/// 605 MiB to 365 and 221 MiB on the server.
TEST(Headline, OfSeveralCandidatesStatesTheRangeAndEachChangeOfTime) {
  Sample sample = make_sample({.candidates = 2, .series = false});
  const auto change_time = [&](const char* candidate, double ratio, Verdict verdict) {
    Comparison& row = row_of(sample, candidate, "server", "round_seconds");
    row.ratio = ratio;
    row.candidate_median = ratio * *row.baseline_median;
    row.ci_low = 0.99 * ratio;
    row.ci_high = 1.01 * ratio;
    row.verdict = verdict;
  };
  EXPECT_THAT(
      document_from(sample).sentence.plain(),
      StartsWith("Both candidates use less memory (server) than original: −39.7% (optimized) "
                 "and −63.5% (candidate-2)."));
  change_time("optimized", 4.3, Verdict::regressed);
  change_time("candidate-2", 0.8, Verdict::inconclusive);
  EXPECT_THAT(document_from(sample).sentence.plain(),
              HasSubstr(" Time: optimized 4.30×, candidate-2 inconclusive. "));
  change_time("candidate-2", 0.8, Verdict::improved);
  EXPECT_THAT(document_from(sample).sentence.plain(),
              HasSubstr(" Time: optimized 4.30×, candidate-2 −20.0%. "));
  change_time("optimized", 0.9, Verdict::improved);
  EXPECT_THAT(document_from(sample).sentence.plain(),
              HasSubstr(" Time: optimized −10.0%, candidate-2 −20.0%. "));
}

TEST(Headline, OfSeveralRolesListsTheirChanges) {
  Sample sample = make_sample({.series = false});
  Comparison& client = row_of(sample, "optimized", "client-1", "peak_rss_bytes");
  client.ratio = 0.75;
  client.candidate_median = 0.75 * *client.baseline_median;
  client.ci_low = 0.74;
  client.ci_high = 0.76;
  client.verdict = Verdict::improved;
  EXPECT_THAT(
      document_from(sample).sentence.plain(),
      StartsWith("optimized uses less memory than original: server −39.7%, client-1 −25.0%"));
}

TEST(Headline, SaysOfTheBestCandidateThatItUsesTheLeast) {
  Sample sample = make_sample({.candidates = 2, .series = false});
  Comparison& worse = row_of(sample, "optimized", "server", "peak_rss_bytes");
  worse.ratio = 1.46;
  worse.candidate_median = 1.46 * *worse.baseline_median;
  worse.ci_low = 1.45;
  worse.ci_high = 1.47;
  worse.verdict = Verdict::regressed;
  EXPECT_THAT(
      document_from(sample).sentence.plain(),
      StartsWith("candidate-2 uses 63.5% less memory (server) than original. It uses the least "
                 "memory of the 2 candidates."));
  EXPECT_THAT(document_from(sample).sentence.plain(),
              testing::EndsWith(" optimized (server peak RSS +46.0%) regressed."));
}

}  // namespace
}  // namespace memduel
