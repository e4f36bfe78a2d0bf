#include <gtest/gtest.h>

#include <cmath>

#include "verdict/questions.h"

namespace memduel {
namespace {

/// Within +2% by its estimate; the 90% interval is wider.
GateResult open_gate(double estimate, double low, double high) {
  GateResult gate;
  gate.evidence.quantity = GateQuantity::difference;
  gate.evidence.limit = 2;
  gate.evidence.estimate = estimate;
  gate.evidence.ci_low = low;
  gate.evidence.ci_high = high;
  gate.evidence.confidence = 0.9;
  gate.evidence.n_baseline = gate.evidence.n_candidate = 16;
  return gate;
}

TEST(TrialsToDecide, NarrowTheIntervalUntilItsEndIsWithinTheLimit) {
  // Half the interval is 1.645 errors, and 80% power takes 0.842 more; 16 * (1.5 * 1.5117 / 1.5)^2.
  EXPECT_EQ(trials_to_decide({}, open_gate(0.5, -1, 2)), 37);
  EXPECT_FALSE(trials_to_decide({}, open_gate(1.5, 0, 3)))
      << "four times as near, 16 times as many";
}

TEST(TrialsToDecide, OfAnEstimateBeyondTheLimitExcludeNoChange) {
  // 16 * (3.5 * 1.5117 / 3)^2.
  EXPECT_EQ(trials_to_decide({}, open_gate(3, -0.5, 9)), 50);
}

TEST(TrialsToDecide, OfALimitOnAnImprovementBringTheIntervalToOneSideOfIt) {
  GateResult gate = open_gate(-4.5, -7, -1.5);
  gate.evidence.limit = -2;
  // 16 * (3 * 1.5117 / 2.5)^2.
  EXPECT_EQ(trials_to_decide({}, gate), 53);
  gate = open_gate(-1.5, -3, 0);
  gate.evidence.limit = -3;
  // 16 * (1.5 * 1.5117 / 1.5)^2.
  EXPECT_EQ(trials_to_decide({}, gate), 37);
}

TEST(TrialsToDecide, AreOnTheScaleOfLogarithmsForRatios) {
  GateResult gate = open_gate(std::exp(0.5), std::exp(-1.0), std::exp(2.0));
  gate.evidence.quantity = GateQuantity::ratio;
  gate.evidence.limit = std::exp(2.0);
  EXPECT_EQ(trials_to_decide({}, gate), 37);
}

TEST(TrialsToDecide, LookAtTheLowerEndWhereLessIsWorse) {
  GateResult gate = open_gate(-0.5, -2, 1);
  gate.metric = "validation_accuracy_ratio";
  gate.evidence.limit = -2;
  EXPECT_EQ(trials_to_decide({}, gate), 37);
}

TEST(TrialsToDecide, AreUnknownWithoutAnInterval) {
  GateResult gate = open_gate(0.5, -1, 2);
  gate.evidence.ci_high.reset();
  EXPECT_FALSE(trials_to_decide({}, gate));
  gate = open_gate(0.5, -1, 2);
  gate.outcome = GateOutcome::passed;
  EXPECT_FALSE(trials_to_decide({}, gate));
}

}  // namespace
}  // namespace memduel
