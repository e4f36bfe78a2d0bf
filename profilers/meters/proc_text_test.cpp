#include "proc_text.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(ResidentPages, IsTheSecondNumberOfStatm) {
  EXPECT_EQ(resident_pages("5412 1310 921 210 0 320 0\n"), 1310);
  EXPECT_EQ(resident_pages("0 0 0 0 0 0 0\n"), 0);
  EXPECT_EQ(anonymous_pages("5412 1310 921 210 0 320 0\n"), 1310 - 921);
  EXPECT_FALSE(anonymous_pages("5412 1310").has_value());
  EXPECT_FALSE(resident_pages("").has_value());
  EXPECT_FALSE(resident_pages("5412").has_value());
  EXPECT_FALSE(resident_pages("5412 x").has_value());
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

TEST(IsOnlyForked, ReadsTheFlagThatExecTakesAway) {
  EXPECT_TRUE(is_only_forked("7 (a) b) S 1 7 7 0 -1 4194368 10 0 0 0\n"));   // 0x400040
  EXPECT_FALSE(is_only_forked("7 (a) b) S 1 7 7 0 -1 4194304 10 0 0 0\n"));  // 0x400000
  EXPECT_FALSE(is_only_forked(""));
}

}  // namespace
}  // namespace memduel
