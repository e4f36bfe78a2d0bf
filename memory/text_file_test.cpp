#include "memory/text_file.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(SizedField, TurnsKibibytesIntoBytes) {
  const char* status = "Name:\tx\nVmHWM:\t    1234 kB\nVmRSS:\t     512 kB\nVmSwap:\t       0 kB\n";
  EXPECT_EQ(sized_field(status, "VmHWM"), 1234 * 1024);
  EXPECT_EQ(sized_field(status, "VmSwap"), 0);
  EXPECT_FALSE(sized_field(status, "Vm").has_value());
  EXPECT_FALSE(sized_field(status, "Pss").has_value());
}

TEST(SizedField, ANameInsideAnotherLineDoesNotCount) {
  EXPECT_FALSE(sized_field("Name:\tPss: 12 kB\n", "Pss").has_value());
  EXPECT_EQ(sized_field("00400000-7ffc ---p 0 0 [rollup]\nRss:  9 kB\nPss:  7 kB\nPss_Anon: 1 kB\n",
                        "Pss"),
            7 * 1024);
}

TEST(SizedField, RefusesNumbersWithoutUnitAndTooLargeOnes) {
  EXPECT_FALSE(sized_field("VmHWM:\t12\n", "VmHWM").has_value());
  EXPECT_FALSE(sized_field("VmHWM:\t99999999999999999 kB\n", "VmHWM").has_value());
  EXPECT_FALSE(sized_field("VmHWM:\t-5 kB\n", "VmHWM").has_value());
}

TEST(KeyedNumber, IsAfterTheWholeKeyAtTheStartOfALine) {
  const char* events = "low 0\nnot_oom_kill 7\noom_kill_group 4\noom_kill 3\n";
  EXPECT_EQ(keyed_number(events, "oom_kill"), 3);
  EXPECT_EQ(keyed_number(events, "low"), 0);
  EXPECT_FALSE(keyed_number(events, "kill").has_value());
  EXPECT_FALSE(keyed_number("oom_kill x\n", "oom_kill").has_value());
  EXPECT_EQ(keyed_number("oom_kill 9", "oom_kill"), 9) << "cut off";
}

TEST(NumberIn, IsNoneForALimitThatIsNone) {
  EXPECT_EQ(number_in("4294967296\n"), 4294967296);
  EXPECT_FALSE(number_in("max\n").has_value());
  EXPECT_FALSE(number_in("").has_value());
}

TEST(TextOf, IsEmptyWhereThereIsNoFile) {
  EXPECT_EQ(text_of("/proc/self/no-such-file"), "");
  EXPECT_FALSE(text_of("/proc/self/status").empty());
}

}  // namespace
}  // namespace memduel
