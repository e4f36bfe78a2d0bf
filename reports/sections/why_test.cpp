#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::StartsWith;

TEST(Why, NamesTheLargestCausesOfTheFirstRow) {
  const Table table = table_in(sample_document({.series = false, .snapshots = true}), "why");
  ASSERT_GE(table.rows.size(), 3U);
  EXPECT_THAT(texts_of(table.rows[0]), testing::ElementsAre("", "server: −240.0 MiB"));
  EXPECT_EQ(texts_of(table.rows[1]).front(), "−200.0 MiB");
  EXPECT_THAT(texts_of(table.rows[1]).at(1), StartsWith("clone, called from aggregate"));
}

}  // namespace
}  // namespace memduel
