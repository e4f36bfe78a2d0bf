#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

constexpr double kBalanceMib = 1024 * 1024;

ReportDocument document_with(double explained_bytes) {
  const Sample sample = make_sample({.series = false});
  ReportModel model = build_report_model(sample.results, sample.run);
  MemoryBalance balance;
  balance.candidate = "optimized";
  balance.role = "server";
  balance.metric = "peak_rss_bytes";
  balance.total.baseline_bytes = 100 * kBalanceMib;
  balance.total.candidate_bytes = 60 * kBalanceMib;
  MemoryPart part;
  part.name = "live allocations";
  part.baseline_bytes = 90 * kBalanceMib;
  part.candidate_bytes = 90 * kBalanceMib - explained_bytes;
  balance.parts = {part};
  balance.rest_bytes = explained_bytes - 40 * kBalanceMib;
  balance.rest = "what the parts do not explain";
  model.memory_balances = {balance};
  return document_of(model);
}

TEST(Balance, SumsItsPartsAndTheRest) {
  const Table table = table_in(document_with(30 * kBalanceMib), "held");
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_THAT(texts_of(table.rows[0]),
              testing::ElementsAre("all of it", "100.0 MiB", "60.0 MiB", "−40.0 MiB"));
  EXPECT_EQ(table.rows[1].cells.back().text.plain(), "−30.0 MiB");
  EXPECT_EQ(table.rows[2].cells.back().text.plain(), "−10.0 MiB");
}

TEST(Balance, IsNoSectionIfTheRestIsLarger) {
  EXPECT_EQ(section_of(document_with(15 * kBalanceMib), "held"), nullptr);
}

}  // namespace
}  // namespace memduel
