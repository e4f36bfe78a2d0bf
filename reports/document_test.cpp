// The document of made-up runs as a whole, against golden files.

#include <gmock/gmock.h>

#include "model_json.h"
#include "reports/report_document.h"
#include "test_document.h"
#include "test_golden.h"
#include "util/json.h"

namespace memduel {
namespace {

class GoldenDocument : public testing::TestWithParam<std::pair<const char*, SampleOptions>> {};

TEST_P(GoldenDocument, IsOfTheSampleRun) {
  const auto& [name, options] = GetParam();
  expect_golden(std::string("document-") + name + ".json",
                written(sample_document(options)).dump(1) + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Samples, GoldenDocument,
    testing::Values(
        std::pair("plain", SampleOptions{.series = false, .snapshots = true}),
        std::pair("profiled",
                  SampleOptions{
                      .series = false, .differences = true, .profiles = true, .growth = true}),
        std::pair("ablated", SampleOptions{.blocks = 6, .series = false, .ablation = true}),
        std::pair("four", SampleOptions{.candidates = 3, .series = false, .parts = true}),
        std::pair("failed", SampleOptions{.blocks = 2, .series = false, .all_failed = true}),
        std::pair("alone", SampleOptions{.candidates = 0, .series = false})),
    [](const auto& test) { return std::string(test.param.first); });

TEST(Sections, AreNoneOfARunWithoutTrials) {
  const ReportDocument document = sample_document({.blocks = -1});
  EXPECT_EQ(section_of(document, "results"), nullptr);
  EXPECT_EQ(section_of(document, "metrics"), nullptr);
  EXPECT_NE(section_of(document, "reproduce"), nullptr);
}

}  // namespace
}  // namespace memduel
