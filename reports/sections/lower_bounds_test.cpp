#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(LowerBounds, AreMultiplesOfTheMinimum) {
  const ReportDocument document = sample_document({.blocks = 6, .series = false, .ablation = true});
  const Table table = table_in(document, "lower-bounds");
  EXPECT_EQ(table.caption, "server peak RSS above start-up");
  // 40 MiB, and 11.25 and 5.4 times that: see add_ablation in test_sample_run.cpp.
  EXPECT_THAT(texts_of(row_named(table, "theoretical minimum")),
              ElementsAre("theoretical minimum", "", "40.0 MiB", "1.0×"));
  EXPECT_THAT(texts_of(row_named(table, "original")),
              ElementsAre("original", "", "450.0 MiB", "11.2×"));
  EXPECT_THAT(texts_of(row_named(table, "optimized")),
              ElementsAre("optimized", "", "216.0 MiB", "5.4×"));
  EXPECT_THAT(text_of_section(document, "lower-bounds"),
              HasSubstr("Minimum: 40.0 MiB (M: its model, 40.0 MiB)."));
}

}  // namespace
}  // namespace memduel
