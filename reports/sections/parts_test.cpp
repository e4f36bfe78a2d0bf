#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::ElementsAre;

TEST(Parts, AreComparedWithTheBaselinesInEachVariant) {
  const Table table = table_in(sample_document({.series = false, .parts = true}), "parts");
  EXPECT_THAT(titles_of(table), ElementsAre("server", "original", "optimized"));
  EXPECT_THAT(texts_of(row_named(table, "activations")),
              ElementsAre("activations", "120.0 MiB", "60.0 MiB −50.0%"));
}

TEST(Parts, AreNoSectionOfAJobWithoutThem) {
  EXPECT_EQ(section_of(sample_document({.series = false}), "parts"), nullptr);
}

}  // namespace
}  // namespace memduel
