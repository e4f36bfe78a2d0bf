#include <gmock/gmock.h>

#include <variant>

#include "test_document.h"

namespace memduel {
namespace {

TEST(Reproduce, IsACommandToCopy) {
  ReportModel model = sample_model({.series = false});
  model.reproduce = "memduel run 'my runs/config.json'";
  EXPECT_EQ(text_of_section(document_of(model), "reproduce"),
            "Reproduce\n  memduel run 'my runs/config.json'\n");
}

TEST(Reproduce, HasTheNumbersAsFilesOnThePage) {
  const ReportDocument document = sample_document({.series = false});
  const Section* section = section_of(document, "reproduce");
  ASSERT_NE(section, nullptr);
  EXPECT_TRUE(std::holds_alternative<Downloads>(section->parts.back().value));
  EXPECT_EQ(section->parts.back().medium, Medium::page);
}

}  // namespace
}  // namespace memduel
