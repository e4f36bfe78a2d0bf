#include "reports/tables/agreement_tables.h"

#include <gmock/gmock.h>

#include "reports/formats/markdown.h"
#include "reports/testing/sample_run.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

AgreementTable sample_table() {
  const auto tables = agreement_tables(make_sample({.agreement = true}).results);
  EXPECT_THAT(tables, SizeIs(1));
  return tables.at(0);
}

std::vector<std::string> shown(const AgreementRow& row) {
  std::vector<std::string> texts;
  for (const ShownAmount& one : row.amounts) texts.push_back(one.amount + " " + one.change);
  return texts;
}

TEST(AgreementTables, HaveARowPerTracerWithItsDifference) {
  const AgreementTable table = sample_table();
  EXPECT_EQ(table.title, "server of original");
  ASSERT_THAT(table.rows, SizeIs(4));
  EXPECT_THAT(shown(table.rows[0]), ElementsAre("100.0 MiB ", "400.0 MiB ", "2.00 MiB "));
  EXPECT_THAT(shown(table.rows[1]),
              ElementsAre("100.0 MiB ±0", "401.0 MiB +0.25 %", "1.50 MiB −25 %"));
  EXPECT_THAT(shown(table.rows[2]), ElementsAre("99.5 MiB −0.50 %", "– ", "5.00 MiB +150 %"));
  EXPECT_THAT(shown(table.rows[3]),
              ElementsAre("– ", "430.0 MiB ± 4.00 MiB +7.5 %", "3.00 MiB ± 4.00 MiB +50 %"));
}

TEST(AgreementTables, SayWhatEachCountsAndWhatElseMakesItDiffer) {
  const AgreementTable table = sample_table();
  EXPECT_EQ(table.rows[3].counts,
            "bytes of size classes, one sample per 512.0 KiB; jemalloc in place of the program's "
            "own allocator");
}

TEST(AgreementTables, CountTheReferencesStacksThatAreFound) {
  const AgreementTable table = sample_table();
  EXPECT_EQ(table.rows[1].stacks, "2 of 2 at the peak, all with the same bytes");
  EXPECT_EQ(table.rows[2].stacks, "1 of 2 at the peak, with the same bytes");
  EXPECT_EQ(table.rows[3].stacks, "2 of 2 allocated, 1 with the same bytes");
}

TEST(AgreementTables, ShowWhatEachTracerHasAtTheReferencesStacks) {
  const AgreementTable table = sample_table();
  ASSERT_THAT(table.stacks, SizeIs(3));
  EXPECT_EQ(table.stacks[0].function, "clone");
  EXPECT_THAT(table.stacks[0].amounts,
              ElementsAre("90.0 MiB", "90.0 MiB", "90.0 MiB (of 95.0 MiB)", "–"));
  EXPECT_THAT(table.stacks[1].amounts, ElementsAre("512.0 KiB", "512.0 KiB", "–", "–"));
  EXPECT_THAT(table.stacks[2].amounts, ElementsAre("300.0 MiB", "–", "–", "330.0 MiB"));
}

TEST(AgreementSentence, SaysHowFarEachTracerIsAndIsOneLineOfTheMarkdown) {
  const std::string sentence = agreement_sentence(make_sample({.agreement = true}).results);
  EXPECT_EQ(sentence,
            "Tracers side by side, farthest from recorder in a peak or a total: heaptrack +0.25 %, "
            "massif −0.50 %, jemalloc +7.5 %.");
  const std::string with = render_markdown(sample_model({.agreement = true}));
  const std::string without = render_markdown(sample_model({}));
  EXPECT_THAT(with, HasSubstr("Tracers side by side"));
  EXPECT_THAT(without, Not(HasSubstr("Tracers side by side")));
}

}  // namespace
}  // namespace memduel
