// How often memduel may look: metering must cost the measured machine next to nothing.
#pragma once

#include <cstdint>

namespace memduel {

/// The time of the next sample. The configured interval is the shortest; it is stretched while
/// memduel's CPU time exceeds its share of the elapsed time, and while nothing moves.
///
/// Why: in a virtual machine one wake-up by a timer costs 20 to 30 us, three statm reads 4 to 10,
/// so that a sample each 2 ms would cost 1.5 to 2 % of a CPU.
class SamplingPace {
 public:
  SamplingPace(std::int64_t interval_ns, std::int64_t begin_ns);

  /// @param cpu_ns CPU time that memduel has used since begin_ns, for whatever.
  /// @param moved whether the sample just taken differs from the one before.
  /// Returns the time of the next sample.
  std::int64_t next(std::int64_t now_ns, std::int64_t cpu_ns, bool moved);

  static constexpr double kShare = 0.002;
  static constexpr double kMaxStretch = 12;

 private:
  std::int64_t interval_ns_;
  std::int64_t begin_ns_;
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

}  // namespace memduel
