#include "sections/cells.h"

#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::ElementsAre;

TEST(UseMebibytes, WritesSmallSizesInTheUnitOfTheOthers) {
  constexpr double kMiBOfCell = 1 << 20;
  Table table;
  Row row;
  row.cells = {
      Cell("name"),       bytes_cell(82 * kMiBOfCell),        bytes_cell(712.0 * 1024),
      bytes_cell(4096),   difference_cell(-0.5 * kMiBOfCell), difference_cell(0.25 * kMiBOfCell),
      difference_cell(0), bytes_cell(2048 * kMiBOfCell)};
  table.rows.push_back(row);
  use_mebibytes(table);
  EXPECT_THAT(texts_of(table.rows[0]), ElementsAre("name", "82.0 MiB", "0.695 MiB", "4.00 KiB",
                                                   "−0.500 MiB", "+0.250 MiB", "0 B", "2.00 GiB"))
      << "less than a hundredth of a MiB keeps its own unit";
}

TEST(UseMebibytes, LeavesOtherNumbersAndSmallTablesAsTheyAre) {
  Row row;
  Cell seconds("712 ms");
  seconds.value = 0.712;
  seconds.exact = "0.712";
  row.cells = {bytes_cell(1 << 20), seconds};
  Table table;
  table.rows = {row};
  use_mebibytes(table);
  EXPECT_THAT(texts_of(table.rows[0]), ElementsAre("1.00 MiB", "712 ms"));
  table.rows[0].cells = {bytes_cell(712.0 * 1024), bytes_cell(99.0 * 1024)};
  use_mebibytes(table);
  EXPECT_THAT(texts_of(table.rows[0]), ElementsAre("712.0 KiB", "99.0 KiB"));
}

TEST(WithLocation, OfALibrarysFunctionIsBehindItsCaller) {
  EXPECT_EQ(with_location("load, called from main", "a.py:3").plain(),
            "load (a.py:3), called from main");
  EXPECT_EQ(with_location("deepcopy (copy.py), called from aggregate", "server.py:33").plain(),
            "deepcopy (copy.py), called from aggregate (server.py:33)");
  EXPECT_EQ(with_location("__next__ (csv.py) (small Python objects)", "a.py:7").plain(),
            "__next__ (csv.py), called from a.py:7 (small Python objects)");
}

}  // namespace
}  // namespace memduel
