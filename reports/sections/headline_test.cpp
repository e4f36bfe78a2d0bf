#include <gmock/gmock.h>

#include <algorithm>

#include "test_document.h"

namespace memduel {
namespace {

using testing::StartsWith;

TEST(Headline, StatesTheAnswerTheNumbersAndTheExitCode) {
  const ReportDocument document = sample_document({.series = false});
  EXPECT_EQ(document.answer, Answer::pass);
  // 605 MiB to 365 MiB: see make_sample.
  EXPECT_EQ(document.sentence.plain(),
            "optimized uses 40% less memory (server) than original. Final model bit-identical.");
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
  EXPECT_THAT(document.exit.plain(), StartsWith("Exit code 1: of 2 "));
  EXPECT_THAT(texts_of(row_named(table_in(document, "results"), "server peak RSS")),
              testing::Contains("+2% ✗"));
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
      StartsWith("Server peak RSS of optimized: −40% (95% CI −40 to −39%). 8 trials each do not "
                 "decide."));
}

TEST(Headline, OfFailedTrialsGivesTheReason) {
  const ReportDocument document = sample_document({.series = false, .all_failed = true});
  EXPECT_NE(document.answer, Answer::pass);
  EXPECT_FALSE(document.sentence.plain().empty());
}

}  // namespace
}  // namespace memduel
