// How long at least one of several threads works, by wall clock: work side by side counts once.
#pragma once

#include <chrono>
#include <mutex>
#include <utility>

namespace memduel {

class BusyTime {
 public:
  using Clock = std::chrono::steady_clock;

  /// Counts as work from its construction to its end.
  class Working {
   public:
    explicit Working(BusyTime& time) : time_(time) { time_.begin(Clock::now()); }
    Working(const Working&) = delete;
    Working& operator=(const Working&) = delete;
    ~Working() { time_.end(Clock::now()); }

   private:
    BusyTime& time_;
  };

  void begin(Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    if (workers_++ == 0) since_ = now;
  }

  void end(Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    if (--workers_ == 0) total_ += now - since_;
  }

  /// The time since the last call; nobody is working now.
  std::chrono::duration<double> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(total_, Clock::duration::zero());
  }

 private:
  std::mutex mutex_;
  int workers_ = 0;
  Clock::time_point since_;
  Clock::duration total_ = Clock::duration::zero();
};

}  // namespace memduel
