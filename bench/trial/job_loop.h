// The loop over processes and marks: what a trial and a watch have in common, whoever started the
// processes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "role_members.h"
#include "trial/marks.h"
#include "trial/sampling.h"
#include "trial/trial_plan.h"
#include "trial_metering.h"
#include "trial_processes.h"

namespace memduel {

/// A single thread's: waits, takes marks and lines, and samples what is due, turn by turn.
struct JobLoop {
  struct Options {
    TrialProcesses::Living living;
    RoleMembers::OriginOf origin_of = RoleMembers::read_origin;
    std::int64_t log_poll_interval_ns = TextMarks::kPollInterval;
    std::int64_t first_sweep_after_ns = kSecondNs;
    bool rest_in_even_rounds = false;
    TrialCgroup cgroup = {};  // NOLINT(readability-redundant-member-init): -Wextra
  };

  /// Makes the log files. `plan` must outlive this. Throws what TrialProcesses, TextMarks and
  /// Events throw.
  JobLoop(const TrialPlan& plan, TrialMeters meters, Options options);
  JobLoop(const JobLoop&) = delete;
  JobLoop& operator=(const JobLoop&) = delete;
  ~JobLoop() = default;

  /// From now on its marks are taken.
  void listen_to(SupervisedProcess& process);
  /// One turn, once something happens or is due, at `until_ns` at the latest.
  /// @param take an event of a source that the caller added to `events`.
  /// @param act what the caller does after marks and lines, before samples.
  /// Returns whether a sample was due.
  bool turn(std::int64_t until_ns, const std::function<void(void* source)>& take,
            const std::function<void(std::int64_t now_ns)>& act);
  void take_marks(SupervisedProcess& process);
  /// It has ended: its last lines, then no more of it.
  void end(SupervisedProcess& process);

  TrialMeters meters;
  TrialProcesses processes;
  TextMarks lines;
  TrialMetering metering;
  Events events;

 private:
  [[nodiscard]] std::int64_t lines_due_ns() const;
  void read_lines(std::int64_t now_ns);
};

/// Tells kills for memory that happen from now on from earlier ones.
class MemoryKills {
 public:
  MemoryKills();
  /// Whether the kernel's count grew: that of `group`, or without it the whole machine's.
  [[nodiscard]] bool grew(const TrialCgroup& group = {}) const;

 private:
  std::optional<std::int64_t> before_;
};

}  // namespace memduel
