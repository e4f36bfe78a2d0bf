// What the cleanups of a role take of its rounds, sent as gauges.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "memduel/memory.h"

namespace memduel {

/// One for each process; cleanups may come from any thread.
class CleanupTime {
 public:
  /// Call beside the mark that begins a round.
  void begin_round();

  /// A cleanup of the running round; one between rounds counts in the share alone.
  void add(const CleanupReport& report);

  /// Sends cleanup_seconds and heap_cleanup_seconds, the allocator's part of it, of the round, and
  /// cleanup_ratio, the share of all cleanups in the time since the first round began. A role that
  /// never cleans up sends zeros, so that arms can be compared. Call before the mark that ends a
  /// round.
  void end_round();

 private:
  using Clock = std::chrono::steady_clock;

  std::mutex mutex_;
  std::optional<Clock::time_point> first_round_;
  double seconds_ = 0;
  double heap_seconds_ = 0;
  double all_seconds_ = 0;
};

}  // namespace memduel
