#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(Profiles, StateTheirCostAndHowToOpenThem) {
  const ReportDocument document = sample_document({.series = false, .profiles = true});
  const std::string text = text_of_section(document, "profiles");
  EXPECT_THAT(text, HasSubstr("original took 1.04 times as long and peaked at 1.01 times its RSS"));
  EXPECT_THAT(text, HasSubstr("  memduel flamegraph profiles/"));
  EXPECT_THAT(tables_in(fold_named(document, "profiles", "6 profiles").parts).at(0).rows, SizeIs(6))
      << "two of the server and one of a client, of each variant";
}

TEST(Profiles, AreNoSectionOfARunWithoutThem) {
  EXPECT_EQ(section_of(sample_document({.series = false}), "profiles"), nullptr);
}

}  // namespace
}  // namespace memduel
