// Sampling from outside: what memory processes have, how often memduel may look, and waiting until
// then.
#pragma once

#include <sys/epoll.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trial/marks.h"
#include "trial/trial_plan.h"
#include "util/file.h"

namespace memduel {

/// Reads one role at mark after mark.
class RoleMemory {
 public:
  /// Sums over those of `processes` that live; all absent when none does. `peak` is the VmHWM of
  /// the stretch since the last reading where one process alone was the role all the time: sums of
  /// several processes' peaks would be more than ever was.
  MarkSizes read(const std::vector<pid_t>& processes);

  /// Whether VmHWM could be reset at every reading. Otherwise peaks are those of the whole life.
  [[nodiscard]] bool peaks_reset() const { return peaks_reset_; }

 private:
  bool peaks_reset_ = true;
  pid_t alone_ = 0;  ///< the one process that lived at the last reading
  std::size_t known_ = 0;
};

/// Resident bytes of those that live; absent when none does. Resets nothing.
std::optional<std::int64_t> resident_bytes(const std::vector<pid_t>& processes);

/// The time of the next sample. The configured interval is the shortest; it is stretched while
/// memduel's CPU time exceeds its share of the elapsed time, and while nothing moves.
///
/// Why: in a virtual machine one wake-up by a timer costs 20 to 30 us, three statm reads 4 to 10,
/// so that a sample each 2 ms would cost 1.5 to 2% of a CPU.
class SamplingPace {
 public:
  enum class Kind {
    thrifty,
    /// Each interval, however long it goes on; a program that starts is looked at more often, so
    /// that a short one is not known by the pages that it had before its first instruction.
    steady
  };
  SamplingPace(std::int64_t interval_ns, std::int64_t begin_ns, Kind kind = Kind::thrifty);

  /// @param cpu_ns CPU time that memduel has used since begin_ns, for whatever.
  /// @param moved whether the sample just taken differs from the one before.
  /// Returns the time of the next sample.
  std::int64_t next(std::int64_t now_ns, std::int64_t cpu_ns, bool moved);

  static constexpr double kShare = 0.002;
  static constexpr double kMaxStretch = 12;

 private:
  std::int64_t interval_ns_;
  std::int64_t begin_ns_;
  Kind kind_;
  std::int64_t due_ns_;
  double stretch_ = 1;
  int quiet_samples_ = 0;
};

/// Rations readings that cost milliseconds: all of them together stay within a share of the time.
class CostlyReadings {
 public:
  /// @param keep_one whether one reading has to be kept for the end: then the first is not free.
  CostlyReadings(std::int64_t begin_ns, bool keep_one)
      : begin_ns_(begin_ns), reserve_ns_(keep_one ? kExpectedNs : 0) {}

  [[nodiscard]] bool affordable(std::int64_t now_ns) const;
  void spent(std::int64_t cpu_ns) { total_ns_ += cpu_ns; }

  static constexpr double kShare = 0.0015;
  /// Three processes of 300 MB.
  static constexpr std::int64_t kExpectedNs = 15'000'000;

 private:
  std::int64_t begin_ns_;
  std::int64_t reserve_ns_;
  std::int64_t total_ns_ = 0;
};

/// Waiting for several descriptors, to the nanosecond where the kernel can.
/// Each descriptor stands for a source, an address that its owner knows it by.
class Events {
 public:
  /// Throws Error(cannot_measure) where no more descriptors may be opened.
  Events();

  /// Tells of `source` whenever `descriptor` is readable. Throws Error(cannot_measure) where the
  /// kernel watches no more of them for this user.
  void add(int descriptor, void* source);
  /// The same, once: until `rearm`. A log that is written without pause would wake us for every
  /// line.
  void add_once(int descriptor, void* source);
  void rearm(int descriptor, void* source);
  void remove(int descriptor);

  /// The sources that have something to read, once one has or the monotonic clock says `until_ns`:
  /// then none. Kernels before 5.11 wait whole milliseconds, rounded up.
  const std::vector<void*>& wait_until(std::int64_t until_ns);

 private:
  void control(int operation, int descriptor, std::uint32_t events, void* source);

  Descriptor poll_;
  std::array<epoll_event, 16> ready_{};
  std::vector<void*> sources_;
};

}  // namespace memduel
