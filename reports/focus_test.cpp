#include "focus.h"

#include <gtest/gtest.h>

#include "model/metric_catalogue.h"
#include "test_sample_run.h"

namespace memduel {
namespace {

Comparison& row_of(Results& results, const std::string& candidate, const std::string& metric) {
  return *std::ranges::find_if(results.comparisons, [&](const Comparison& row) {
    return row.candidate == candidate && row.role == "server" && row.metric == metric;
  });
}

/// candidate-3 has the least memory; its time is not decided.
Results three_candidates() {
  Results results = make_sample({.candidates = 3, .series = false}).results;
  for (Comparison& row : results.comparisons)
    if (row.metric == kRoundSeconds) row.verdict = Verdict::inconclusive;
  return results;
}

TEST(CandidateInFocus, IsTheBestOne) {
  Results results = three_candidates();
  EXPECT_EQ(candidate_in_focus(results), "candidate-3");
  row_of(results, "candidate-3", kRoundSeconds).verdict = Verdict::unchanged;
  row_of(results, "candidate-2", kRoundSeconds).verdict = Verdict::improved;
  EXPECT_EQ(candidate_in_focus(results), "candidate-3") << "its time is decided";
}

TEST(CandidateInFocus, IsTheOneThatImprovedInBothIfTheTimeOfTheBestIsOpen) {
  Results results = three_candidates();
  row_of(results, "candidate-2", kRoundSeconds).verdict = Verdict::improved;
  EXPECT_EQ(candidate_in_focus(results), "candidate-2");
  row_of(results, "optimized", kRoundSeconds).verdict = Verdict::improved;
  row_of(results, "optimized", kRoundSeconds).candidate_median = 0.1;
  EXPECT_EQ(candidate_in_focus(results), "optimized") << "it takes the least time";
  for (Comparison& row : results.comparisons)
    if (row.candidate == "optimized" && row.is_asked()) row.verdict = Verdict::unchanged;
  EXPECT_EQ(candidate_in_focus(results), "candidate-2") << "its memory improved, too";
}

TEST(CandidateInFocus, IsTheOneThatFailedAGate) {
  Results results = three_candidates();
  for (GateResult& gate : results.gates)
    if (gate.candidate == "candidate-2") gate.outcome = GateOutcome::failed;
  EXPECT_EQ(candidate_in_focus(results), "candidate-2");
}

TEST(CandidateInFocus, IsNoneOfARunOfOneVariant) {
  EXPECT_EQ(candidate_in_focus(make_sample({.candidates = 0, .series = false}).results), "");
}

}  // namespace
}  // namespace memduel
