#include "profilers/meters/proc_text.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(ResidentPages, IsTheSecondNumberOfStatm) {
  EXPECT_EQ(resident_pages("5412 1310 921 210 0 320 0\n"), 1310);
  EXPECT_EQ(resident_pages("0 0 0 0 0 0 0\n"), 0);
  EXPECT_FALSE(resident_pages("").has_value());
  EXPECT_FALSE(resident_pages("5412").has_value());
  EXPECT_FALSE(resident_pages("5412 x").has_value());
}

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

TEST(FaultCounts, AreFieldsTenAndTwelveWhateverTheCommandIsCalled) {
  const auto counts =
      fault_counts("4711 (a) S) b) R 1 2 3 4 5 4194304 777 8 9 10 11 12 13 14 20 0 1 0 99");
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(counts->minor, 777);
  EXPECT_EQ(counts->major, 9);
  EXPECT_FALSE(fault_counts("4711 (cut").has_value());
  EXPECT_FALSE(fault_counts("4711 (cut) R 1 2").has_value());
}

}  // namespace
}  // namespace memduel
