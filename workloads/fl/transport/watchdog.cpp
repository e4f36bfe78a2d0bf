#include "watchdog.h"

#include <fmt/format.h>

#include <algorithm>

namespace memduel {

Watchdog::Watchdog(std::chrono::duration<double> patience)
    : patience_(patience), thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::begin(Call& call) {
  const std::lock_guard lock(mutex_);
  watched_[&call] = {Clock::now() + std::chrono::duration_cast<Clock::duration>(patience_)};
}

bool Watchdog::end(Call& call) {
  const std::lock_guard lock(mutex_);
  const bool cancelled = watched_.at(&call).cancelled;
  watched_.erase(&call);
  return cancelled;
}

/// Looks a few times per patience, so that begin and end need not wake this thread.
void Watchdog::run() {
  const auto step = std::min<std::chrono::duration<double>>(patience_ / 8, std::chrono::seconds(1));
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, step, [this] { return ending_; })) {
    const Clock::time_point now = Clock::now();
    for (auto& [call, watched] : watched_) {
      if (watched.cancelled || now < watched.due) continue;
      watched.cancelled = true;
      call->cancel();
    }
  }
}

template <class Work>
auto WatchedCall::watched(const char* what, Work work) {
  const auto expect_in_time = [&] {
    if (watchdog_.end(call_))
      throw PeerGone(fmt::format("{} for {:g} s", what, watchdog_.patience().count()), peer());
  };
  watchdog_.begin(call_);
  auto result = [&] {
    try {
      return work();
    } catch (...) {
      expect_in_time();
      throw;
    }
  }();
  expect_in_time();
  return result;
}

std::optional<Message> WatchedCall::read() {
  return watched("it sent nothing", [&] { return call_.read(); });
}

void WatchedCall::write(std::span<const Segment> segments) {
  watched("it received nothing", [&] {
    call_.write(segments);
    return true;
  });
}

}  // namespace memduel
