#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::ElementsAre;

TEST(Owners, LeadFromOnePeakToTheOther) {
  const Table table = table_in(sample_document({.series = false, .snapshots = true}), "resident");
  // The measured peaks, see make_sample; the snapshots explain 240 MiB, see add_resident.
  EXPECT_THAT(texts_of(table.rows.front()), ElementsAre("original", "", "605.0 MiB"));
  EXPECT_EQ(table.rows.front().kind, RowKind::total);
  EXPECT_THAT(texts_of(table.rows.back()), ElementsAre("optimized", "", "365.0 MiB"));
  double sum = 0;
  for (const Row& row : table.rows)
    if (row.kind != RowKind::total) sum += row.cells.back().value.value_or(0);
  EXPECT_DOUBLE_EQ(sum, -240.0 * 1024 * 1024);
}

TEST(Owners, HaveSizesOfEachVariantInMebibytes) {
  const ReportDocument document = sample_document({.series = false, .snapshots = true});
  const Fold fold = fold_named(document, "resident", "Both variants by owner");
  const Table table = tables_in(fold.parts).at(0);
  for (const Row& row : table.rows)
    for (const Cell& cell : row.cells)
      if (cell.value.value_or(0) != 0) {
        EXPECT_THAT(cell.text.plain(), testing::EndsWith(" MiB"));
      }
}

}  // namespace
}  // namespace memduel
