#include "command_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memduel::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CommandNames, AreTheWordsThatDiffer) {
  EXPECT_THAT(names_after_difference({"./old big.bin", "./new big.bin"}),
              ElementsAre("old", "new"));
  EXPECT_THAT(names_after_difference({"build-a/srv -n 3", "build-a/srv2 -n 3"}),
              ElementsAre("srv", "srv2"));
  EXPECT_THAT(names_after_difference({"./ledger-1.4", "./ledger-1.5", "./ledger-2.0"}),
              ElementsAre("ledger-1.4", "ledger-1.5", "ledger-2.0"));
  EXPECT_THAT(names_after_difference({"python3 src/before.py x", "python3 src/after.py x"}),
              ElementsAre("before.py", "after.py"));
}

TEST(CommandNames, OfNumbersHaveTheOptionOrTheProgram) {
  EXPECT_THAT(names_after_difference({"srv -n 3", "srv -n 4"}), ElementsAre("n-3", "n-4"));
  EXPECT_THAT(names_after_difference({"srv --threads=1", "srv --threads=2"}),
              ElementsAre("threads-1", "threads-2"));
  EXPECT_THAT(names_after_difference(
                  {"python3 src/evict.py data.bin 0.50", "python3 src/evict.py data.bin 0.51"}),
              ElementsAre("evict-0.50", "evict-0.51"));
  EXPECT_THAT(names_after_difference({"./ledger-1.5 100", "./ledger-1.5 200"}),
              ElementsAre("ledger-1.5-100", "ledger-1.5-200"));
}

TEST(CommandNames, AreNoneOfWordsThatAreNoClearNames) {
  EXPECT_THAT(names_after_difference({"srv --fast", "srv --slow"}), IsEmpty()) << "options";
  EXPECT_THAT(names_after_difference({"a/srv", "b/srv"}), IsEmpty()) << "the same file name";
  EXPECT_THAT(names_after_difference({"sort x", "uniq y"}), IsEmpty()) << "two words differ";
  EXPECT_THAT(names_after_difference({"sort x", "sort -u x"}), IsEmpty()) << "of other lengths";
  EXPECT_THAT(names_after_difference({"A=1 old", "A=1 new"}), IsEmpty()) << "with environments";
  EXPECT_THAT(names_after_difference({"./old 'x", "./new 'x"}), IsEmpty()) << "no command lines";
  EXPECT_THAT(names_after_difference({"./a-name-longer-than-a-column", "./b"}), IsEmpty());
  EXPECT_THAT(names_after_difference({"./old"}), IsEmpty());
}

}  // namespace
}  // namespace memduel::cli
