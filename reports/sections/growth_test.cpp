#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

TEST(Growth, OfARoleIsOneLineOfAllVariants) {
  const ReportDocument document = sample_document({.series = false, .growth = true});
  const Section* notice = section_of(document, "growth-notice");
  ASSERT_NE(notice, nullptr);
  const auto* line = std::get_if<Paragraph>(&notice->parts.at(0).value);
  ASSERT_NE(line, nullptr);
  EXPECT_THAT(line->text.plain(), HasSubstr("RSS growth per round: original "));
}

TEST(Growth, HasARowForEachKnownSeriesAndWhereItLeads) {
  const Table table = table_in(sample_document({.series = false, .growth = true}), "growth");
  ASSERT_THAT(table.rows, SizeIs(2)) << "of client-1 nothing is known";
  const std::vector<std::string> grows = texts_of(table.rows[0]);
  EXPECT_EQ(grows[1], "original");
  EXPECT_EQ(grows[2], "↗ growing");
  EXPECT_THAT(grows[3], StartsWith("64.0 MiB"));
  EXPECT_THAT(grows[5], StartsWith("reaches the memory limit of 24.0 GiB in round 375 (341–416)"));
  EXPECT_EQ(texts_of(table.rows[1])[2], "→ flat");
}

TEST(Growth, NamesTheStacksThatGrow) {
  const std::string text =
      text_of_section(sample_document({.series = false, .growth = true}), "growth");
  EXPECT_THAT(text, HasSubstr("+48.0 MiB per round  clone ← aggregate"));
  EXPECT_THAT(text, HasSubstr("+12.0 MiB per round  keep"));
}

TEST(Growth, OfAJobOfOneRoleIsListedOnce) {
  Sample sample = make_sample({.series = false, .growth = true});
  Results& results = sample.results;
  results.job.roles = {"server"};
  results.job.groups = {};
  std::erase_if(results.growth, [](const Growth& row) { return row.role != "server"; });
  for (std::size_t i = 0, count = results.growth.size(); i < count; ++i) {
    Growth row = results.growth[i];
    row.role = kTree;
    results.growth.push_back(std::move(row));
  }
  const ReportDocument document = document_from(sample);
  EXPECT_THAT(table_in(document, "growth").rows, SizeIs(2));
  EXPECT_THAT(tables_in(section_of(document, "growth")->parts).at(1).rows, SizeIs(2)) << "stacks";
}

}  // namespace
}  // namespace memduel
