#include "trial/sampling.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>

#include "memory/proc_files.h"
#include "meters/meter.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

bool reset_peak(pid_t pid) {
  const Descriptor file(
      open(fmt::format("/proc/{}/clear_refs", pid).c_str(), O_WRONLY | O_CLOEXEC));
  return file && write(file.get(), "5", 1) == 1;
}

}  // namespace

MarkSizes RoleMemory::read(const std::vector<pid_t>& processes) {
  MarkSizes sizes;
  std::optional<std::int64_t> peak;
  int living = 0;
  pid_t last = 0;
  for (const pid_t pid : processes) {
    const auto memory = process_memory(pid);
    if (!memory || !memory->rss) continue;  // a zombie has none
    ++living;
    last = pid;
    add_up(sizes.rss, memory->rss);
    add_up(sizes.anon, memory->rss_anon);
    add_up(sizes.file, memory->rss_file);
    peak = memory->peak_rss;
  }
  const bool is_new = known_ == 0;
  const bool was_alone =
      is_new ? processes.size() == 1 : alone_ == last && known_ == processes.size();
  alone_ = living == 1 ? last : 0;
  known_ = processes.size();
  if (alone_ == 0) return sizes;
  if (was_alone) sizes.peak = peak;
  peaks_reset_ = reset_peak(alone_) && peaks_reset_;
  return sizes;
}

std::optional<std::int64_t> resident_bytes(const std::vector<pid_t>& processes) {
  std::optional<std::int64_t> sum;
  for (const pid_t pid : processes)
    if (const auto memory = process_memory(pid)) add_up(sum, memory->rss);
  return sum;
}

namespace {

/// What may be spent at once beyond the share: a start-up that allocates is sampled at full speed.
constexpr std::int64_t kBurstNs = 2'000'000;
constexpr double kStep = 1.25;
constexpr int kQuietSamples = 8;
constexpr double kQuietStretch = 4;

}  // namespace

SamplingPace::SamplingPace(std::int64_t interval_ns, std::int64_t begin_ns, Kind kind)
    : interval_ns_(interval_ns), begin_ns_(begin_ns), kind_(kind), due_ns_(begin_ns) {}

std::int64_t SamplingPace::next(std::int64_t now_ns, std::int64_t cpu_ns, bool moved) {
  if (kind_ == Kind::steady) {
    constexpr std::int64_t kShortest = 10'000'000;
    due_ns_ += std::min(interval_ns_, std::max(now_ns - begin_ns_, kShortest));
    return due_ns_ = std::max(due_ns_, now_ns);
  }
  const double allowed =
      kShare * static_cast<double>(now_ns - begin_ns_) + static_cast<double>(kBurstNs);
  const bool over = static_cast<double>(cpu_ns) > allowed;
  stretch_ = over ? std::min(stretch_ * kStep, kMaxStretch) : std::max(stretch_ / kStep, 1.0);
  quiet_samples_ = moved ? 0 : quiet_samples_ + 1;
  const double quiet = quiet_samples_ > kQuietSamples ? kQuietStretch : 1;
  const double stretch = std::max(stretch_, quiet);
  return now_ns + static_cast<std::int64_t>(static_cast<double>(interval_ns_) * stretch);
}

bool CostlyReadings::affordable(std::int64_t now_ns) const {
  return static_cast<double>(total_ns_ + reserve_ns_) <=
         kShare * static_cast<double>(now_ns - begin_ns_);
}

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
