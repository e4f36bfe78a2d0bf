#include <gmock/gmock.h>

#include <set>
#include <string>

#include "model/metric_catalogue.h"
#include "test_document.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(Metrics, OfATextAreThoseThatMatterWithTheirChangeAndVerdict) {
  const Table table = table_in(sample_document({.series = false}), "metrics");
  EXPECT_THAT(titles_of(table),
              ElementsAre("metric", "original", "optimized", "change", "95% CI", "verdict"));
  // 605 to 365 MiB: see make_sample.
  EXPECT_THAT(texts_of(row_named(table, "server peak RSS (gate)")),
              ElementsAre("server peak RSS (gate)", "605.0 MiB", "365.0 MiB", "−39.7%",
                          "−40.0 to −39.4%", "improved"));
}

TEST(Metrics, OfThePageAreAllWithTheDetectableChangeAndTheReason) {
  const ReportDocument document = sample_document({.series = false});
  const Fold fold = fold_named(document, "metrics", "12 comparisons");
  const std::vector<Table> tables = tables_in(fold.parts);
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_THAT(titles_of(tables[0]), ElementsAre("role", "metric", "original", "optimized", "change",
                                                "95% CI", "MDE", "verdict", "reason"));
  EXPECT_THAT(tables[0].rows, SizeIs(12)) << "four metrics of three roles";
  EXPECT_THAT(tables[0].rows[0].cells.back().text.plain(),
              HasSubstr("the whole interval lies beyond the margin; p = 0.0078"));
}

/// The rows of all processes, each also as one of the only role.
Sample of_one_role() {
  Sample sample = make_sample({.series = false});
  Results& results = sample.results;
  results.job.roles = {"command"};
  results.job.groups = {};
  results.gates.clear();
  std::erase_if(results.comparisons, [](const Comparison& row) { return row.role != kTree; });
  for (std::size_t i = 0, count = results.comparisons.size(); i < count; ++i) {
    Comparison row = results.comparisons[i];
    row.role = "command";
    results.comparisons.push_back(std::move(row));
  }
  return sample;
}

TEST(Metrics, OfAJobOfOneRoleAreListedOnce) {
  const ReportDocument document = document_from(of_one_role());
  const Table table = table_in(document, "metrics");
  std::set<std::string> names;
  for (const Row& row : table.rows)
    EXPECT_TRUE(names.insert(texts_of(row).front()).second) << texts_of(row).front();
  EXPECT_THAT(tables_in(fold_named(document, "metrics", "4 comparisons").parts).at(0).rows,
              SizeIs(4));
}

TEST(Metrics, OfTheOnlyRoleHaveItsNameIfAllProcessesHaveOtherNumbers) {
  Sample sample = of_one_role();
  for (Comparison& row : sample.results.comparisons)
    if (row.role == "command" && row.metric == kPeakRss) *row.candidate_median += 1 << 20;
  const Table table = table_in(document_from(sample), "metrics");
  EXPECT_EQ(texts_of(row_named(table, "command peak RSS")).size(), 6U);
  EXPECT_EQ(texts_of(row_named(table, "peak RSS")).size(), 6U);
}

}  // namespace
}  // namespace memduel
