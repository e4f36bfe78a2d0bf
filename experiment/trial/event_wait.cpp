#include "experiment/trial/event_wait.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "experiment/marks/monotonic.h"

namespace memduel {

// glibc has a function for this system call since 2.35.
int wait_for_events_until(int poll, std::span<epoll_event> events, std::int64_t until_ns) {
  const std::int64_t left = std::max<std::int64_t>(0, until_ns - monotonic_ns());
  const timespec timeout{left / kSecondNs, left % kSecondNs};
  const auto most = static_cast<int>(events.size());
  const long count = syscall(SYS_epoll_pwait2, poll, events.data(), most, &timeout, nullptr,
                             sizeof(std::uint64_t));
  // A filter of system calls that does not know this one says EPERM.
  if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(count);
  constexpr std::int64_t kMillisecondNs = 1'000'000;
  const std::int64_t milliseconds = (left + kMillisecondNs - 1) / kMillisecondNs;
  return epoll_wait(poll, events.data(), most,
                    static_cast<int>(std::min<std::int64_t>(milliseconds, INT_MAX)));
}

}  // namespace memduel
