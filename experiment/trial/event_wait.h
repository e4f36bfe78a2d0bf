// Waiting for descriptors, to the nanosecond where the kernel can.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <span>

namespace memduel {

/// The number of `events` of `poll` that came before `until_ns` of the monotonic clock; 0 or less
/// when none did. Kernels before 5.11 wait whole milliseconds, rounded up.
int wait_for_events_until(int poll, std::span<epoll_event> events, std::int64_t until_ns);

}  // namespace memduel
