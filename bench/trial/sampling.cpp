#include "experiment/trial/events.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/error.h"
#include "experiment/marks/monotonic.h"

namespace memduel {
namespace {

[[noreturn]] void refuse(const char* advice) {
  throw Error(ExitCode::cannot_measure,
              std::string("cannot wait for events: ") + std::strerror(errno), "", advice);
}

}  // namespace

Events::Events() : poll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (poll_.get() < 0) refuse("raise ulimit -n");
}

void Events::add(int descriptor, void* source) {
  control(EPOLL_CTL_ADD, descriptor, EPOLLIN, source);
}

void Events::add_once(int descriptor, void* source) {
  control(EPOLL_CTL_ADD, descriptor, EPOLLIN | EPOLLONESHOT, source);
}

void Events::rearm(int descriptor, void* source) {
  control(EPOLL_CTL_MOD, descriptor, EPOLLIN | EPOLLONESHOT, source);
}

void Events::remove(int descriptor) {
  epoll_ctl(poll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

void Events::control(int operation, int descriptor, std::uint32_t events, void* source) {
  epoll_event event{events, {.ptr = source}};
  if (epoll_ctl(poll_.get(), operation, descriptor, &event) != 0)
    refuse("see /proc/sys/fs/epoll/max_user_watches");
}

const std::vector<void*>& Events::wait_until(std::int64_t until_ns) {
  const std::int64_t left = std::max<std::int64_t>(0, until_ns - monotonic_ns());
  const timespec timeout{left / kSecondNs, left % kSecondNs};
  const auto most = static_cast<int>(ready_.size());
  // glibc has a function for this system call since 2.35.
  long count = syscall(SYS_epoll_pwait2, poll_.get(), ready_.data(), most, &timeout, nullptr,
                       sizeof(std::uint64_t));
  // A filter of system calls that does not know this one says EPERM.
  if (count < 0 && (errno == ENOSYS || errno == EPERM)) {
    constexpr std::int64_t kMillisecondNs = 1'000'000;
    const std::int64_t milliseconds = (left + kMillisecondNs - 1) / kMillisecondNs;
    count = epoll_wait(poll_.get(), ready_.data(), most,
                       static_cast<int>(std::min<std::int64_t>(milliseconds, INT_MAX)));
  }
  sources_.clear();
  for (long at = 0; at < count; ++at)
    sources_.push_back(ready_[static_cast<std::size_t>(at)].data.ptr);
  return sources_;
}

}  // namespace memduel
