#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::HasSubstr;

void rename(Results& results, const std::string& from, const std::string& to) {
  for (ArmSummary& arm : results.arms)
    if (arm.name == from) arm.name = to;
  for (Comparison& row : results.comparisons) {
    if (row.baseline == from) row.baseline = to;
    if (row.candidate == from) row.candidate = to;
  }
  for (GateResult& gate : results.gates)
    if (gate.candidate == from) gate.candidate = to;
  if (results.baseline == from) results.baseline = to;
  for (TrialData& trial : results.trials)
    if (trial.arm == from) trial.arm = to;
}

/// The sample's baseline of 605 MiB and candidates of 365 and 221 MiB with other names.
std::string summary_of(const std::string& baseline, const std::string& first,
                       const std::string& second) {
  Sample sample = make_sample({.candidates = 2, .series = false});
  rename(sample.results, "original", baseline);
  rename(sample.results, "optimized", first);
  rename(sample.results, "candidate-2", second);
  return render_summary(document_from(sample));
}

TEST(Trend, IsThatOfTheNumbersInTheNames) {
  EXPECT_THAT(summary_of("n-32", "n-8", "n-1"),
              HasSubstr("Trend:   peak RSS rises with n: 221.0 MiB at 1, 605.0 MiB at 32.\n"));
}

TEST(Trend, OfPointsOnALineHasItsSlope) {
  EXPECT_THAT(summary_of("n-26", "n-16", "n-10"),
              HasSubstr("605.0 MiB at 26, 24.0 MiB for\n         each additional unit.\n"));
}

TEST(Trend, NeedsOneParameterInAllNames) {
  EXPECT_THAT(summary_of("n-32", "m-8", "n-1"), testing::Not(HasSubstr("Trend:")));
  EXPECT_THAT(summary_of("old", "n-8", "n-1"), testing::Not(HasSubstr("Trend:")));
}

}  // namespace
}  // namespace memduel
