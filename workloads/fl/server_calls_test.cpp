#include "server_calls.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

using std::chrono::seconds;

BusyTime::Clock::time_point at(int second) {
  return BusyTime::Clock::time_point(seconds(second));
}

TEST(BusyTime, CountsWorkSideBySideOnceAndIdlenessNever) {
  BusyTime time;
  time.begin(at(1));
  time.begin(at(2));
  time.end(at(4));
  time.end(at(6));  // 5 s from 1 to 6
  time.begin(at(10));
  time.end(at(12));
  EXPECT_EQ(time.take(), seconds(7));
}

TEST(BusyTime, BeginsAnewAfterItWasTaken) {
  BusyTime time;
  EXPECT_EQ(time.take(), seconds(0));
  time.begin(at(1));
  time.end(at(3));
  EXPECT_EQ(time.take(), seconds(2));
  time.begin(at(5));
  time.end(at(6));
  EXPECT_EQ(time.take(), seconds(1));
}

TEST(BusyTime, WorkEndsWithItsScope) {
  BusyTime time;
  const auto before = BusyTime::Clock::now();
  {
    const BusyTime::Working working(time);
  }
  const auto most = BusyTime::Clock::now() - before;
  const auto busy = time.take();
  EXPECT_GT(busy, seconds(0));
  EXPECT_LE(busy, most);
}

}  // namespace
}  // namespace memduel
