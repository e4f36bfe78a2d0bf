// What a watch measures: RSS at every sample and mark, PSS now and then, rounds as they end, and
// how much of the memory limit is used.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "memory/memory_limit.h"
#include "meters/procfs_meter.h"
#include "model/run_data.h"
#include "run/run.h"
#include "trial/marks.h"
#include "trial/processes.h"
#include "trial/sampling.h"
#include "watched_role.h"
#include "watched_tree.h"

namespace memduel {

/// Of every root by itself, and of all together: the role "all".
class WatchMetering {
 public:
  /// `options` and `roots` must outlive this.
  WatchMetering(const WatchOptions& options, WatchedRoots& roots,
                std::function<std::int64_t()> clock = monotonic_ns);

  void add(const std::string& role, pid_t pid) { meter_.add(role, pid); }
  /// New descendants.
  void add(const std::vector<Member>& members);

  [[nodiscard]] std::int64_t due_ns() const { return sample_due_ns_; }
  /// RSS, when it is due.
  void sample(std::int64_t now_ns);
  /// PSS of all, when it is due; where that costs more than its share of the time, later.
  void sweep(std::int64_t now_ns);

  /// What a command has sent through annotate.h, with the sizes that it read itself.
  void take_marks(WatchedRoot& root, RoleMarks& marks);
  /// What logs say. @param gauges_only rounds are marked in a better way.
  void take_lines(const std::vector<MarkedLine>& lines, bool gauges_only);
  /// A root ends, or the watch without it.
  void finish(WatchedRoot& root, const RoleEnd& end);
  /// The watch ends, and with it all together.
  void finish(const RoleEnd& end);

  /// For people; without name, time and limit.
  [[nodiscard]] WatchSnapshot snapshot(std::int64_t now_ns) const;
  /// What is to be stored of every root and of all: rounds that have ended since the last call, and
  /// all that else is known.
  [[nodiscard]] std::vector<RoleData> take_roles();
  [[nodiscard]] bool has_samples() const { return samples_ > 0; }
  [[nodiscard]] std::size_t pending_rounds() const { return whole_pending_.size(); }
  [[nodiscard]] std::optional<int> running_round() const { return whole_.running_round(); }
  [[nodiscard]] std::vector<Note> limitations() const;
  [[nodiscard]] std::vector<Note> warnings() const;

 private:
  void take_peak_resets(WatchedRoot& root);
  void give(WatchedRoot& root, const Mark& mark, const MarkSizes& sizes);
  void give_whole(MarkEvent event, const MarkSizes& sizes);
  /// Of all together, as sampled last.
  [[nodiscard]] std::optional<std::int64_t> rss_now() const;
  MeterReading counters_at(const Mark& mark, const std::string& role);
  void gather_rounds();
  [[nodiscard]] RoleData role_data(const WatchedRole& role, const ThinnedSeries& pss,
                                   std::vector<RoundData>& pending) const;

  const WatchOptions& options_;
  WatchedRoots& roots_;
  std::function<std::int64_t()> clock_;
  std::int64_t begin_ns_;
  ProcfsMeter meter_;
  WatchedRole whole_;
  ThinnedSeries whole_pss_;
  std::vector<RoundData> whole_pending_;
  WatchedRounds round_ends_;
  CostlyReadings sweeps_;
  CostlyReadings counters_;
  std::optional<std::int64_t> pss_bytes_;
  std::int64_t peak_pss_bytes_ = 0;
  std::optional<std::int64_t> rss_at_peak_pss_bytes_;
  std::int64_t pss_read_ns_ = 0;
  std::int64_t peak_rss_bytes_ = 0;
  std::int64_t sample_due_ns_;
  std::int64_t sweep_due_ns_;
  std::int64_t samples_ = 0;
  bool sweep_was_late_ = false;
  bool pss_missing_ = false;
};

class LimitWatch {
 public:
  /// @param limit absent: none can be read, and nothing is ever said.
  LimitWatch(const WatchOptions& options, std::optional<MemoryLimit> limit);

  /// The warning, once a threshold is reached.
  std::optional<Note> check(std::optional<int> round, double elapsed_seconds);

  [[nodiscard]] std::optional<WatchSnapshot::Limit> state() const;
  /// What a reader of shares has to know.
  [[nodiscard]] std::optional<Note> limitation() const;

 private:
  [[nodiscard]] std::string of_whom() const;

  const WatchOptions& options_;
  std::optional<MemoryLimit> limit_;
  std::optional<std::int64_t> used_bytes_;
  MemoryAlarm alarm_;
};

}  // namespace memduel
