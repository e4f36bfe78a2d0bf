#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Gates, AreChecksWithTheirOutcomes) {
  const ReportDocument document = sample_document({.series = false});
  ASSERT_EQ(document.checks.size(), 2U);
  EXPECT_EQ(document.checks[0].status, Check::Status::passed);
  EXPECT_EQ(document.checks[0].variant, "optimized");
  EXPECT_EQ(table_in(document, "gates").rows.size(), 2U);
}

TEST(Gates, HaveTheirOutcomeAndReason) {
  const Table table = table_in(sample_document({.series = false}), "gates");
  EXPECT_THAT(titles_of(table), ElementsAre("gate", "variant", "outcome", "reason"));
  EXPECT_THAT(texts_of(table.rows.at(0)),
              ElementsAre("server.peak_rss_bytes<=+1%", "optimized", "passed",
                          "the whole interval lies beyond the margin"));
}

TEST(Gates, StateWhatTheyJudgeIfThatIsNotTheChangeOfTheMedians) {
  Sample sample = make_sample({.series = false});
  GateResult& gate = sample.results.gates.at(0);
  gate.evidence.quantity = GateQuantity::ratio;
  gate.evidence.limit = 1.01;
  gate.evidence.estimate = 0.61;
  const std::string text = text_of_section(document_from(sample), "gates");
  EXPECT_THAT(text, HasSubstr("Gates judge the Hodges–Lehmann estimate from all pairs of trials"));
  EXPECT_THAT(text, HasSubstr("−39.0% instead of −39.7% for server.peak_rss_bytes<=+1%"));
  gate.evidence.estimate = 365.0 / 605;
  EXPECT_THAT(text_of_section(document_from(sample), "gates"), Not(HasSubstr("Hodges")));
}

}  // namespace
}  // namespace memduel
