#include <gmock/gmock.h>

#include <variant>

#include "test_document.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using testing::StartsWith;

TEST(Method, GivesTheNumbersBehindEachGateRow) {
  const Fold fold =
      fold_named(sample_document({.series = false}), "evidence", "How this was decided");
  const auto* decisions = std::get_if<List>(&fold.parts.at(1).value);
  ASSERT_NE(decisions, nullptr);
  ASSERT_THAT(decisions->items, SizeIs(2));
  EXPECT_EQ(
      decisions->items[0].plain(),
      "optimized vs. original: server peak RSS: −39.7% (605.0 → 365.0 MiB, 95% CI −40.0 to −39.4%, "
      "8 "
      "trials each), margin ±1%, p = 0.0078, adjusted for 2 gate rows 0.016: improved, strong, "
      "because the whole interval lies beyond the margin.");
}

TEST(Method, ListsEveryTrialAndOpensTheListIfOneFailed) {
  const Fold passed = fold_named(sample_document({.series = false}), "evidence", "18 trials");
  EXPECT_EQ(passed.title, "18 trials, all ok");
  EXPECT_FALSE(passed.is_open);
  EXPECT_THAT(tables_in(passed.parts).at(0).rows, SizeIs(18)) << "two of them warm-ups";
  const Fold failed =
      fold_named(sample_document({.series = false, .failed_trial = true}), "evidence", "18 trials");
  EXPECT_EQ(failed.title, "18 trials, 1 not ok");
  EXPECT_TRUE(failed.is_open);
  EXPECT_THAT(texts_of(tables_in(failed.parts).at(0).rows.back()).back(),
              StartsWith("server was killed by signal 9"));
}

TEST(Method, MarksTheSwitchesInWhichVariantsDiffer) {
  const Fold fold =
      fold_named(sample_document({.series = false}), "evidence", "What differs between");
  const Table table = tables_in(fold.parts).at(0);
  EXPECT_THAT(texts_of(row_named(table, "aggregate")),
              ElementsAre("aggregate", "deep-copy", "in-place"));
  EXPECT_EQ(row_named(table, "aggregate").cells[0].text.runs()[0].tone, Tone::strong);
  EXPECT_EQ(row_named(table, "piece_bytes").cells[0].text.runs()[0].tone, Tone::plain);
}

}  // namespace
}  // namespace memduel
