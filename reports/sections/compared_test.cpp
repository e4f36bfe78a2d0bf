#include <gmock/gmock.h>

#include "sections/sections.h"
#include "test_document.h"

namespace memduel {
namespace {

using testing::HasSubstr;

TEST(Compared, AreTheVariantsWithTheBaselineFirst) {
  const ReportDocument document = sample_document({.candidates = 2, .series = false});
  ASSERT_EQ(document.compared.size(), 3U);
  EXPECT_EQ(document.compared[0].name, "original");
  EXPECT_TRUE(document.compared[0].is_baseline);
  EXPECT_EQ(document.compared[2].name, "candidate-2");
  EXPECT_FALSE(document.compared[2].is_baseline);
}

TEST(Compared, AreDescribed) {
  const Sample sample = make_sample({.series = false});
  ReportModel model = build_report_model(sample.results, sample.run);
  for (const char* name : {"original", "optimized"}) {
    Variant& variant = model.config.variants.emplace_back();
    variant.name = name;
    variant.preset = "appfl-" + variant.name;
  }
  model.config.variants[0].description = "APPFL as it was";
  EXPECT_EQ(compared_variants(model)[0].words, "preset appfl-original: APPFL as it was");
  EXPECT_EQ(compared_variants(model)[1].words, "preset appfl-optimized");
  model.confidential = true;
  EXPECT_EQ(compared_variants(model)[0].words, "preset appfl-original") << "may be of the user";
}

TEST(Setting, StatesTheTrialsAndTheMachine) {
  const Sample sample = make_sample({.series = false});
  ReportModel model = build_report_model(sample.results, sample.run);
  model.results.environment["date"] = "2026-11-26";
  model.results.environment["cores"] = 2;
  model.results.environment["memory_bytes"] = 24.0 * 1024 * 1024 * 1024;
  EXPECT_EQ(setting_words(model), "medians of 8 trials each, 2026-11-26, 2 cores, 24.0 GiB RAM");
  model.results.arms[1].trials_ok = 7;
  EXPECT_THAT(setting_words(model), HasSubstr("8 trials of original, 7 trials of optimized"));
}

}  // namespace
}  // namespace memduel
