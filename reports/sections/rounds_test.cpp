#include <gmock/gmock.h>

#include <string>
#include <variant>
#include <vector>

#include "test_document.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

TEST(Rounds, OfATextAreOneLineOfBarsAVariant) {
  const Table table = table_in(sample_document({.series = false}), "rounds");
  EXPECT_THAT(titles_of(table), ElementsAre("role", "variant", "rounds", "lowest", "highest"));
  ASSERT_THAT(table.rows, Not(IsEmpty()));
  // The server peaks at 601 MiB in the first of five rounds, and at 1 MiB more in each other.
  EXPECT_THAT(texts_of(table.rows[0]),
              ElementsAre("server", "original", "█████", "601.0 MiB", "605.0 MiB"));
}

TEST(Rounds, OfThePageAreAChartOfTheRoles) {
  const ReportDocument document = sample_document({.series = false});
  const Section* section = section_of(document, "rounds");
  ASSERT_NE(section, nullptr);
  const RoundsChart* chart = nullptr;
  for (const Part& part : section->parts)
    if (const auto* found = std::get_if<RoundsChart>(&part.value)) chart = found;
  ASSERT_NE(chart, nullptr);
  std::vector<std::string> labels;
  for (const ChartRole& role : chart->roles) labels.push_back(role.label);
  EXPECT_THAT(labels,
              ElementsAre("server", "all processes", "client-1, the largest client", "client-2"));
}

}  // namespace
}  // namespace memduel
