#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::StartsWith;

TEST(Why, NamesTheLargestCausesOfTheFirstRow) {
  const ReportDocument document = sample_document({.series = false, .snapshots = true});
  const Table table = table_in(document, "why");
  ASSERT_GE(table.rows.size(), 2U);
  EXPECT_EQ(texts_of(table.rows[0]).front(), "−200.0 MiB");
  EXPECT_THAT(texts_of(table.rows[0]).at(1), StartsWith("clone, called from aggregate"));
  const Section* why = section_of(document, "why");
  ASSERT_NE(why, nullptr);
  EXPECT_THAT(std::get<Paragraph>(why->parts.at(0).value).text.plain(),
              StartsWith("server: −240.0 MiB"));
}

TEST(Why, OfAnInconclusiveRunIsTheSpreadOfTheTrials) {
  Sample sample = make_sample({.series = false});
  for (Comparison& row : sample.results.comparisons) row.verdict = Verdict::inconclusive;
  for (GateResult& gate : sample.results.gates) gate.outcome = GateOutcome::inconclusive;
  sample.results.overall = {OverallOutcome::inconclusive, 5, std::nullopt, ""};
  const ReportDocument document = document_from(sample);
  const Section* why = section_of(document, "why");
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(
      std::get<Paragraph>(why->parts.at(0).value).text.plain(),
      "Whether server peak RSS changed by more than the margin is open. Trials of original range "
      "from 604.0 to 606.0 MiB, those of optimized from 364.0 to 366.0 MiB.");
}

}  // namespace
}  // namespace memduel
