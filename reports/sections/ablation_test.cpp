#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// 450 to 216 MiB, of which 134 MiB are interaction: see add_ablation in test_sample_run.cpp.
TEST(Ablation, StatesTheSumOfTheSwitchesAndTheirInteraction) {
  const std::string text = text_of_section(
      sample_document({.blocks = 6, .series = false, .ablation = true}), "ablation");
  EXPECT_THAT(text,
              HasSubstr("server peak RSS above start-up: −234.0 MiB in all; the switches added "
                        "alone sum to −100.0 MiB, interaction −134.0 MiB"));
}

TEST(Ablation, HasBothEffectsOfEachSwitch) {
  const ReportDocument document = sample_document({.blocks = 6, .series = false, .ablation = true});
  const Table table = table_in(document, "ablation");
  const std::vector<std::string> framing = texts_of(row_named(table, "framing"));
  EXPECT_THAT(framing.at(1), HasSubstr("−100.0 MiB"));
  EXPECT_THAT(framing.at(3), HasSubstr("+60.0 MiB"));
  EXPECT_EQ(framing.back(), "saves");
  EXPECT_EQ(texts_of(row_named(table, "cleanup")).back(), "nothing");
}

TEST(Ablation, HasTheTablesOfPhasesInAFold) {
  const Fold fold = fold_named(sample_document({.blocks = 6, .series = false, .ablation = true}),
                               "ablation", "The peak of every phase: 1 table");
  EXPECT_THAT(tables_in(fold.parts), SizeIs(1));
}

}  // namespace
}  // namespace memduel
