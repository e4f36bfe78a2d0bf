// What a watch knows of a job, in bounded memory however long it goes on: of every role and of all
// together, which is the role "all". It is told what the job's loop has seen, turn by turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "job_loop.h"
#include "meters/procfs_meter.h"
#include "model/run_data.h"
#include "model/watch_snapshot.h"
#include "watched_role.h"

namespace memduel {

class WatchedJob {
 public:
  /// @param meter one of the loop's, which samples RSS. @param knows_idle see WatchedRole.
  /// Both must outlive this.
  WatchedJob(JobLoop& loop, const ProcfsMeter& meter, bool knows_idle);

  /// Takes the marks out of the traces and what was swept and sampled.
  /// @param sampled whether the loop's last turn took a sample.
  void take(bool sampled, std::int64_t now_ns);
  /// A process ends, or the watch without it. Its marks are taken.
  void finish(const SupervisedProcess& process, const RoleEnd& end);
  /// The watch ends, and with it all together.
  void finish(const RoleEnd& end) { all_.finish(end); }

  /// For people; without name, time and limit.
  [[nodiscard]] WatchSnapshot snapshot(std::int64_t now_ns) const;
  /// What is to be stored of every role and of all: rounds that have ended since the last call, and
  /// all that else is known.
  [[nodiscard]] std::vector<RoleData> take_roles();
  [[nodiscard]] bool has_samples() const { return samples_ > 0; }
  [[nodiscard]] std::size_t rounds_waiting() const { return all_.rounds_waiting(); }
  [[nodiscard]] std::optional<int> running_round() const { return all_.running_round(); }
  [[nodiscard]] std::vector<Note> limitations(double interval_seconds) const;
  [[nodiscard]] std::vector<Note> warnings() const;

 private:
  void take_marks();
  void take_for_all(const std::vector<std::vector<MarkEvent>>& marks);
  void take_sample(std::int64_t now_ns);
  void take_sweep(PssSweep sweep);
  [[nodiscard]] WatchedNow now_of(std::size_t role) const;
  /// Of all together, as sampled last.
  [[nodiscard]] std::optional<std::int64_t> rss_now() const;

  JobLoop& loop_;
  const ProcfsMeter& meter_;
  std::deque<WatchedRole> roles_;  ///< in the order of the loop's processes
  WatchedRole all_;
  RoleMemory memory_;  ///< of a process that marks and its descendants
  std::int64_t samples_ = 0;
  std::int64_t peak_rss_bytes_ = 0;
  std::optional<PssSweep> last_sweep_;  ///< that was complete
  std::int64_t peak_pss_bytes_ = 0;
  std::optional<std::int64_t> rss_at_peak_pss_bytes_;
};

}  // namespace memduel
