#include "focus.h"

#include <gtest/gtest.h>

#include "test_sample_run.h"

namespace memduel {
namespace {

/// candidate-3 has the least memory.
Results three_candidates() {
  return make_sample({.candidates = 3, .series = false}).results;
}

TEST(CandidateInFocus, IsTheBestOne) {
  EXPECT_EQ(candidate_in_focus(three_candidates()), "candidate-3");
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
