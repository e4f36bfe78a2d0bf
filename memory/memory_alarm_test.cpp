#include "memory/memory_alarm.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(MemoryAlarm, SaysEachLevelOnceUntilMemoryWasGivenBack) {
  MemoryAlarm alarm(0.85, 0.9);
  EXPECT_EQ(alarm.reached(0.5), std::nullopt);
  EXPECT_EQ(alarm.reached(0.85), MemoryLevel::warning);
  EXPECT_EQ(alarm.reached(0.84), std::nullopt);
  EXPECT_EQ(alarm.reached(0.86), std::nullopt) << "it only swung";
  EXPECT_EQ(alarm.reached(0.95), MemoryLevel::critical);
  EXPECT_EQ(alarm.reached(0.99), std::nullopt);
  EXPECT_EQ(alarm.reached(0.84), std::nullopt);
  EXPECT_EQ(alarm.reached(0.91), MemoryLevel::critical) << "it had gone back below";
  EXPECT_EQ(alarm.reached(0.5), std::nullopt);
  EXPECT_EQ(alarm.reached(0.87), MemoryLevel::warning);
}

TEST(MemoryAlarm, MayBeginAtTheWorst) {
  MemoryAlarm alarm(0.85, 0.9);
  EXPECT_EQ(alarm.reached(0.97), MemoryLevel::critical);
}

}  // namespace
}  // namespace memduel
