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

  static constexpr double kShare = 0.008;
  static constexpr double kMaxStretch = 8;

 private:
  std::int64_t interval_ns_;
  std::int64_t begin_ns_;
  double stretch_ = 1;
  int quiet_samples_ = 0;
};

/// Rations readings that cost milliseconds.
class CostlyReadings {
 public:
  explicit CostlyReadings(std::int64_t begin_ns) : begin_ns_(begin_ns) {}

  [[nodiscard]] bool affordable(std::int64_t now_ns) const;
  void spent(std::int64_t cpu_ns) { total_ns_ += cpu_ns; }
  /// CPU time of all readings so far.
  [[nodiscard]] std::int64_t total_ns() const { return total_ns_; }

  static constexpr double kShare = 0.0015;

 private:
  std::int64_t begin_ns_;
  std::int64_t total_ns_ = 0;
};

}  // namespace memduel
