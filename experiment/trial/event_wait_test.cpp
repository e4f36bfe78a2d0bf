#include "experiment/trial/event_wait.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "experiment/marks/monotonic.h"

namespace memduel {
namespace {

class EventWait : public testing::Test {
 protected:
  EventWait() : poll_(epoll_create1(EPOLL_CLOEXEC)) {
    EXPECT_EQ(pipe(ends_.data()), 0);
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u32 = 7;
    EXPECT_EQ(epoll_ctl(poll_, EPOLL_CTL_ADD, ends_[0], &wanted), 0);
  }
  ~EventWait() override {
    for (const int fd : {poll_, ends_[0], ends_[1]}) close(fd);
  }

  int poll_;
  std::array<int, 2> ends_{};
  std::array<epoll_event, 4> events_{};
};

TEST_F(EventWait, EndsWithWhatComes) {
  ASSERT_EQ(write(ends_[1], "x", 1), 1);
  ASSERT_EQ(wait_for_events_until(poll_, events_, monotonic_ns() + 60 * kSecondNs), 1);
  EXPECT_EQ(events_[0].data.u32, 7U);
}

TEST_F(EventWait, EndsAtItsTimeAndNotBefore) {
  const std::int64_t until = monotonic_ns() + 2'500'000;
  EXPECT_EQ(wait_for_events_until(poll_, events_, until), 0);
  EXPECT_GE(monotonic_ns(), until);
}

TEST_F(EventWait, ATimeThatIsOverIsNotWaitedFor) {
  EXPECT_EQ(wait_for_events_until(poll_, events_, monotonic_ns() - kSecondNs), 0);
}

}  // namespace
}  // namespace memduel
