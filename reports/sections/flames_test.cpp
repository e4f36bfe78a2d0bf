#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

TEST(Flames, AreAPartOfThePageOnly) {
  const Sample sample = make_sample({.series = false});
  ReportModel model = build_report_model(sample.results, sample.run);
  model.flames.shown.push_back({{"recorder", "server", {"original", "optimized"}, {"a", "b"}}, ""});
  const ReportDocument document = document_of(model);
  const Section* section = section_of(document, "flames");
  ASSERT_NE(section, nullptr);
  EXPECT_TRUE(std::ranges::any_of(section->parts, [](const Part& part) {
    return std::holds_alternative<FlameGraphs>(part.value);
  }));
  EXPECT_TRUE(std::ranges::none_of(section->parts, &Part::is_in_terminal));
}

TEST(Flames, AreNoSectionWithoutProfiles) {
  EXPECT_EQ(section_of(sample_document({.series = false}), "flames"), nullptr);
}

}  // namespace
}  // namespace memduel
