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

TEST(CommandNames, AreNoneOfWordsThatAreNoClearNames) {
  EXPECT_THAT(names_after_difference({"srv -n 3", "srv -n 4"}), IsEmpty()) << "numbers";
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
