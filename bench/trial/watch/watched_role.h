// Rounds and metrics of one role while it is watched, in bounded memory: only the running round is
// held, finished ones are handed over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "meters/meter.h"
#include "model/metric_catalogue.h"
#include "model/run_data.h"
#include "model/watch_snapshot.h"
#include "trial/trial_trace.h"

namespace memduel {

/// Ends of rounds for the eye: however many there are, a few evenly spaced ones are kept. The store
/// has them all.
class WatchedRounds {
 public:
  /// @param most at least 2.
  explicit WatchedRounds(std::size_t most) : most_(most) {}

  void add(const RoundEnd& end) {
    if (count_++ % every_ != 0) return;
    kept_.push_back(end);
    if (kept_.size() < most_) return;
    std::size_t kept = 0;
    for (std::size_t at = 0; at < kept_.size(); at += 2) kept_[kept++] = kept_[at];
    kept_.resize(kept);
    every_ *= 2;
  }

  [[nodiscard]] const std::vector<RoundEnd>& kept() const { return kept_; }
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  std::size_t most_;
  std::vector<RoundEnd> kept_;
  std::int64_t count_ = 0;
  std::int64_t every_ = 1;
};

/// What a role's end tells that its rounds do not.
struct RoleEnd {
  std::int64_t t_ns = 0;
  bool well = false;               ///< the last round ended with it
  std::optional<ExitRecord> exit;  ///< where memduel was its parent
};

class WatchedRole {
 public:
  /// @param knows_idle its first mark says what it holds before its work; not so of a program that
  /// was there before.
  WatchedRole(std::string role, std::int64_t begin_ns, bool knows_idle);

  [[nodiscard]] const std::string& role() const { return trace_.role; }

  void sample(std::int64_t t_ns, std::int64_t rss_bytes) {
    rss_.add(t_ns, rss_bytes);
    peak_rss_bytes_ = std::max(peak_rss_bytes_, rss_bytes);
  }
  void add_sweep(const PssSweep& sweep);
  void take(MarkEvent event);
  /// Marks carry the peak of the whole life, not that of their stretch.
  void no_peak_resets() { trace_.peaks_reset = false; }
  /// Sums over its processes are only sampled.
  void has_several_processes() { trace_.has_several_processes = true; }

  [[nodiscard]] std::size_t rounds_waiting() const { return finished_.size(); }
  [[nodiscard]] const WatchedRounds& round_ends() const { return round_ends_; }
  /// All that is known, with the rounds that ended since the last call. @param rss its samples.
  RoleData take_data(Series rss);
  [[nodiscard]] const Metrics& metrics() const { return metrics_; }
  [[nodiscard]] std::optional<int> running_round() const { return running_; }
  /// Sampled, or the kernel's if that is larger.
  [[nodiscard]] std::int64_t peak_rss_bytes() const {
    return std::max(peak_rss_bytes_,
                    static_cast<std::int64_t>(metrics_.value(kPeakRss).value_or(0)));
  }
  /// Marks of a round that were too many to keep.
  [[nodiscard]] std::int64_t marks_dropped() const { return marks_dropped_; }

  /// The role has ended; what remains is in metrics() and take_data().
  void finish(const RoleEnd& end);

 private:
  void sample_at(const Mark& mark);
  void fold();
  void add_rounds(const RoleData& data);
  void merge(const RoleData& data, bool is_last);
  void merge_outside_rounds(const RoleData& data, bool is_last);
  void add_above_idle(const Metrics& metrics);

  RoleTrace trace_;  ///< the running round, or what came since the last one
  std::vector<PssSweep> sweeps_;
  ThinnedSeries rss_;
  std::int64_t peak_rss_bytes_ = 0;
  ThinnedSeries pss_;
  Metrics metrics_;
  std::set<DeclaredDirection> declared_;
  std::vector<RoundData> finished_;
  WatchedRounds round_ends_;
  std::vector<OutsideRounds> outside_rounds_;
  bool peak_is_sampled_ = true;  ///< until its end is known
  std::optional<int> running_;
  bool knows_idle_;
  bool has_rounds_ = false;
  bool had_rounds_ = false;  ///< before the trace that is being merged
  std::int64_t marks_dropped_ = 0;
};

}  // namespace memduel
