#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Two variants whose switches are given.
ReportDocument document_with(const nlohmann::json& original, const nlohmann::json& optimized,
                             const std::string& reproduce) {
  Sample sample = make_sample({.series = false});
  ReportModel model = build_report_model(sample.results, sample.run);
  for (const auto& [name, switches] : {std::pair("original", original), {"optimized", optimized}}) {
    Variant& variant = model.config.variants.emplace_back();
    variant.name = name;
    variant.switches = switches;
  }
  model.reproduce = reproduce;
  return document_of(model);
}

TEST(Switches, ThatDifferAreAllNamed) {
  const nlohmann::json original = {
      {"aggregate", "copy"}, {"cleanup", "none"}, {"framing", "whole"}};
  const nlohmann::json optimized = {
      {"aggregate", "fold"}, {"cleanup", "none"}, {"framing", "pieces"}};
  const ReportDocument document =
      document_with(original, optimized, "memduel run runs/x/config.json");
  const std::string text = render_summary(document, {}, 100);
  EXPECT_THAT(text, HasSubstr("Differs: 2 of 3 switches: aggregate, framing."));
  EXPECT_THAT(text, HasSubstr("\n  memduel ablate runs/x/config.json\n"));
  EXPECT_THAT(texts_of(row_named(table_in(document, "switch-values"), "aggregate")),
              testing::ElementsAre("aggregate", "copy", "fold"));
}

TEST(Switches, ThatAreAlikeAreNoSection) {
  const nlohmann::json same = {{"aggregate", "copy"}};
  EXPECT_EQ(section_of(document_with(same, same, ""), "switches"), nullptr);
}

// Only the config of a run can be ablated.
TEST(Switches, OfARunWithoutAConfigHaveNoCommand) {
  const ReportDocument document = document_with({{"a", 1}}, {{"a", 2}}, "memduel compare ./a ./b");
  EXPECT_THAT(render_summary(document, {}, 100), Not(HasSubstr("memduel ablate")));
}

}  // namespace
}  // namespace memduel
