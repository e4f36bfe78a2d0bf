#include "experiment/trial/events.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>

#include "base/error.h"
#include "experiment/marks/monotonic.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kMinute = 60 * kSecondNs;

class EventsOfAPipe : public testing::Test {
 protected:
  EventsOfAPipe() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~EventsOfAPipe() override {
    for (const int fd : ends_) close(fd);
  }
  void send() { ASSERT_EQ(write(ends_[1], "x", 1), 1); }

  std::array<int, 2> ends_{};
  Events events_;
  int source_ = 0;
};

TEST_F(EventsOfAPipe, EndWithWhatComes) {
  events_.add(ends_[0], &source_);
  send();
  EXPECT_THAT(events_.wait_until(monotonic_ns() + kMinute), ElementsAre(&source_));
}

TEST_F(EventsOfAPipe, EndAtTheirTimeAndNotBefore) {
  events_.add(ends_[0], &source_);
  const std::int64_t until = monotonic_ns() + 2'500'000;
  EXPECT_THAT(events_.wait_until(until), IsEmpty());
  EXPECT_GE(monotonic_ns(), until);
}

TEST_F(EventsOfAPipe, ATimeThatIsOverIsNotWaitedFor) {
  events_.add(ends_[0], &source_);
  EXPECT_THAT(events_.wait_until(monotonic_ns() - kSecondNs), IsEmpty());
}

TEST_F(EventsOfAPipe, OnceMeansUntilItIsAskedForAgain) {
  events_.add_once(ends_[0], &source_);
  send();
  EXPECT_THAT(events_.wait_until(monotonic_ns() + kMinute), ElementsAre(&source_));
  EXPECT_THAT(events_.wait_until(monotonic_ns()), IsEmpty());
  events_.rearm(ends_[0], &source_);
  EXPECT_THAT(events_.wait_until(monotonic_ns() + kMinute), ElementsAre(&source_));
}

TEST_F(EventsOfAPipe, WhatWasRemovedIsNotToldOf) {
  events_.add(ends_[0], &source_);
  send();
  events_.remove(ends_[0]);
  EXPECT_THAT(events_.wait_until(monotonic_ns()), IsEmpty());
}

TEST(Events, WithoutDescriptorsNothingCanBeWaitedFor) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  std::string message;
  try {
    const Events events;
  } catch (const Error& error) {
    message = error.message();
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_THAT(message, testing::HasSubstr("cannot wait for events: Too many open files"));
}

TEST(Events, AFileIsNeverWaitedFor) {
  Events events;
  int source = 0;
  EXPECT_THROW(events.add(-1, &source), Error);
}

}  // namespace
}  // namespace memduel
