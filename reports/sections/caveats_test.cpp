#include <gmock/gmock.h>

#include <string>
#include <variant>

#include "test_document.h"

namespace memduel {
namespace {

using testing::HasSubstr;

TEST(Caveats, AreNotesWithTheirAdvice) {
  const std::string text = text_of_section(sample_document({.series = false}), "caveats");
  EXPECT_THAT(text, HasSubstr("• Warning: other programs used 12% of the CPU; run it on a quiet "
                              "machine\n"));
  EXPECT_THAT(text, HasSubstr("• Limitation: no cgroup could be made; run as root\n"));
}

TEST(Caveats, OfOneKindHaveTheirAdviceOnce) {
  Sample sample = make_sample({.series = false});
  sample.results.warnings = {{"load", "the first", "wait"}, {"load", "the second", "wait"}};
  const std::string text = text_of_section(document_from(sample), "caveats");
  EXPECT_THAT(text, HasSubstr("Warning: the first; wait\n"));
  EXPECT_THAT(text, HasSubstr("Warning: the second\n"));
}

/// What each format shows of the notice of the first screen.
std::string notice(const ReportDocument& document, bool (Part::*is_in)() const) {
  std::string text;
  for (const Part& part : section_of(document, "caveats-notice")->parts)
    if ((part.*is_in)()) text += std::get<Paragraph>(part.value).text.plain();
  return text;
}

TEST(CaveatsNotice, NamesTheReportOnATerminal) {
  const ReportDocument document = sample_document({.series = false});
  const std::string message = "other programs used 12% of the CPU. 1 more caveat";
  EXPECT_EQ(notice(document, &Part::is_in_terminal), message + ", see the report.");
  EXPECT_EQ(notice(document, &Part::is_in_markdown), message + ".");
  EXPECT_EQ(notice(document, &Part::is_in_page), message + ".");
}

TEST(CaveatsNotice, OfMinorCaveatsIsTheirNumber) {
  Sample sample = make_sample({.series = false});
  sample.results.warnings = {{"drift", "the values drift", "rerun"}};
  sample.results.limitations.clear();
  EXPECT_EQ(notice(document_from(sample), &Part::is_in_markdown),
            "None that changes a verdict. 1 minor one.");
}

}  // namespace
}  // namespace memduel
