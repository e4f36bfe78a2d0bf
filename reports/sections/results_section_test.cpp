#include <gmock/gmock.h>

#include <algorithm>

#include "test_document.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Results, HaveAnAverageReadersOrderAndColumns) {
  const Table table = table_in(sample_document({.series = false}), "results");
  EXPECT_THAT(titles_of(table), ElementsAre("metric", "original", "optimized", "change", "95% CI",
                                            "limit", "verdict", "trials"));
  ASSERT_GE(table.rows.size(), 4U);
  EXPECT_EQ(table.rows[0].kind, RowKind::group);
  EXPECT_EQ(texts_of(table.rows[0]).front(), "peak RSS");
  EXPECT_EQ(table.rows[1].kind, RowKind::member);
  EXPECT_THAT(texts_of(table.rows[1]), ElementsAre("server", "605.0 MiB", "365.0 MiB", "−39.7%",
                                                   "−40.0 to −39.4%", testing::_, "improved", ""));
  EXPECT_EQ(texts_of(table.rows[2]).front(), "client-1");
  EXPECT_EQ(texts_of(table.rows.back()).front(), "final model");
  EXPECT_EQ(texts_of(table.rows[table.rows.size() - 2]).front(), "time per round");
}

TEST(Results, DrawEveryTrialFromTheLeastOfItsRowToTheMost) {
  const Table table = table_in(sample_document({.series = false}), "results");
  const auto& track = table.rows.at(1).cells.back().track;
  ASSERT_TRUE(track);
  EXPECT_EQ(std::ranges::count(track->marks, MarkKind::dot, &TrackMark::kind), 16);
  // Peaks of 604 to 606 MiB against 364 to 366 MiB.
  const auto dot = std::ranges::find_if(track->marks, [](const TrackMark& mark) {
    return mark.kind == MarkKind::median && mark.variant == "optimized";
  });
  ASSERT_NE(dot, track->marks.end());
  EXPECT_NEAR(dot->from, (365.0 - 364) / (606 - 364), 0.003);
}

TEST(Results, OfSeveralCandidatesHaveARowForEachVariant) {
  const Table table = table_in(sample_document({.candidates = 3, .series = false}), "results");
  EXPECT_THAT(titles_of(table), ElementsAre("metric", "variant", "median", "change", "95% CI",
                                            "limit", "verdict", "trials"));
  const auto first = std::ranges::find_if(
      table.rows, [](const Row& row) { return row.cells.at(0).text.plain() == "server peak RSS"; });
  ASSERT_LT(first + 3, table.rows.end());
  EXPECT_THAT(texts_of(*first),
              ElementsAre("server peak RSS", "original", "605.0 MiB", "baseline", "", "", "", ""));
  EXPECT_EQ((first + 1)->kind, RowKind::detail);
  EXPECT_THAT(texts_of(*(first + 1)), ElementsAre("", "optimized", "365.0 MiB", "−39.7%",
                                                  "−40.0 to −39.4%", testing::_, "improved", ""));
  EXPECT_EQ(texts_of(*(first + 2)).at(2), "221.0 MiB");
  EXPECT_EQ(first->cells.back().track->marks.size(), 9U) << "its own 8 trials and their median";
}

TEST(Results, DoNotJudgeTheTimeOfRunsThatWereNotInterleaved) {
  Sample sample = make_sample({.series = false});
  for (Comparison& row : sample.results.comparisons)
    if (row.metric == kRoundSeconds) row.verdict = Verdict::inconclusive;
  EXPECT_THAT(render_summary(document_from(sample)), testing::Not(HasSubstr("not judged")));
  sample.results.warnings.push_back({"not_interleaved", "one after the other", ""});
  const std::string text = render_summary(document_from(sample));
  EXPECT_THAT(text, HasSubstr("not judged: the runs were not interleaved."));
  EXPECT_THAT(text, HasSubstr("not judged†\n"));
  EXPECT_THAT(text, HasSubstr("† The runs were not interleaved"));
}

}  // namespace
}  // namespace memduel
