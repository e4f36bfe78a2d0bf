#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::HasSubstr;

TEST(Output, StatesWhetherModelsAndAccuracyAreTheSame) {
  const std::string text = text_of_section(sample_document({.series = false}), "output");
  EXPECT_THAT(text, HasSubstr("The final models of optimized and original are bit-identical."));
  EXPECT_THAT(text, HasSubstr("Validation accuracy: 91.25% (original), 91.25% (optimized)."));
}

TEST(Output, OfSeveralCandidatesIsOneSentenceForAll) {
  const std::string text =
      text_of_section(sample_document({.candidates = 3, .series = false}), "output");
  EXPECT_THAT(text, HasSubstr("The final models of all 4 variants are bit-identical."));
  EXPECT_THAT(text, HasSubstr("Validation accuracy: 91.25% in every variant."));
}

TEST(Output, CountsTheVariantsOfAnAblation) {
  const std::string text =
      text_of_section(sample_document({.blocks = 6, .series = false, .ablation = true}), "output");
  EXPECT_THAT(text, HasSubstr("The final models of 5 of the ablation's 5 variants and original are "
                              "bit-identical."));
}

}  // namespace
}  // namespace memduel
