// What is measured of a running trial: its marks, each with what the meters read at it, samples as
// often as their cost allows, sweeps of PSS, and what its control group is charged with.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory/kernel_files.h"
#include "meters/cgroup.h"
#include "meters/meter.h"
#include "trial/marks.h"
#include "trial/processes.h"
#include "trial/sampling.h"
#include "trial/trial_plan.h"
#include "trial/trial_trace.h"
#include "trial_processes.h"
#include "util/file.h"

namespace memduel {

/// The outside meters of one trial, looked at as often as their cost allows.
class TrialMeters {
 public:
  /// Makes the plan's outside meters. Throws Error(usage) for a name that is no meter.
  explicit TrialMeters(const TrialPlan& plan);
  /// Of a watch, which may go on for days: one meter, at a steady pace, and what marks read is
  /// rationed as well.
  TrialMeters(std::unique_ptr<Meter> meter, double interval_seconds);

  void add(const std::string& role, pid_t pid);

  /// While resting, nothing is sampled or read.
  void rest(bool resting) { resting_ = resting; }
  /// When the next sample is due; INT64_MAX without meters.
  [[nodiscard]] std::int64_t due_ns() const;
  /// Samples every role when it is time to; whether it was.
  bool sample(std::int64_t now_ns);

  MeterReading read(const std::string& role);

  enum class Need { if_affordable, must };
  /// PSS of `roles`, one after the other. Returns whether it could be afforded.
  /// @param all_roles whether these are all roles of the trial: only then their sum is the tree's.
  bool sweep(const std::vector<std::string>& roles, bool all_roles, Need need);
  [[nodiscard]] int skipped_sweeps() const { return skipped_sweeps_; }
  /// Those that could not read every role.
  [[nodiscard]] int incomplete_sweeps() const { return incomplete_sweeps_; }
  /// Hands over what was swept since the last call.
  [[nodiscard]] std::vector<PssSweep> take_sweeps() { return std::exchange(sweeps_, {}); }

  /// Hands the sweeps and the sampled series over.
  void collect(TrialTrace& trace);
  /// CPU time of memduel since this was made.
  [[nodiscard]] double cpu_seconds() const;

 private:
  [[nodiscard]] std::int64_t cpu_ns() const;

  std::vector<std::unique_ptr<Meter>> meters_;
  std::int64_t begin_cpu_ns_;
  SamplingPace pace_;
  CostlyReadings costly_;
  std::optional<CostlyReadings> readings_;  ///< absent: marks are read whatever that costs
  std::vector<PssSweep> sweeps_;
  std::int64_t due_ns_ = 0;
  bool resting_ = false;
  int skipped_sweeps_ = 0;
  int incomplete_sweeps_ = 0;
};

/// What the control group was charged with when it was charged most, and the most of it that was no
/// page cache.
class CgroupPeak {
 public:
  /// Reads what is charged (10 us), and its parts where that may be more than before (50 us); at
  /// most once in 20 ms. Its processes (30 us each) are read at a two-hundredth of a CPU at most.
  void sample(std::int64_t now_ns, const TrialCgroup& group);

  /// What has been cached stays charged when the processes are gone: a file that was written last
  /// is seen then.
  void end(const TrialCgroup& group);

  /// At the largest sample; empty where there is no group.
  [[nodiscard]] const CgroupParts& parts() const { return parts_; }

  /// Absent where there is no group, or its memory has no parts.
  [[nodiscard]] const std::optional<SharedOnce>& shared_once() const { return shared_once_; }

 private:
  void take(const CgroupParts& parts);
  void count_again(std::int64_t now_ns, const TrialCgroup& group);
  void take_besides(const CgroupParts& parts);

  std::int64_t due_ns_ = 0;
  std::int64_t largest_bytes_ = 0;
  CgroupParts parts_;
  std::optional<SharedOnce> shared_once_;
  std::int64_t count_due_ns_ = 0;
};

/// The most that a trial's control group was charged in each round.
/// Between two marks as they arrive, by the kernel's own high-water mark, which begins anew at
/// each: the group's in version 1, this descriptor's in version 2 (from Linux 6.12 on). Nothing is
/// known without a group, and under a kernel that cannot.
class CgroupRounds {
 public:
  explicit CgroupRounds(const TrialCgroup& group);

  /// A mark of the role whose rounds are the job's. A round that has no end ends where the next
  /// one begins.
  void take(const Mark& mark);

  /// In bytes, by round.
  [[nodiscard]] const std::map<int, std::int64_t>& peaks() const { return peaks_; }
  /// Of all that was read, between rounds too: version 1 has forgotten it by the trial's end.
  [[nodiscard]] std::int64_t largest_bytes() const { return largest_bytes_; }

 private:
  std::optional<std::int64_t> begin_anew();

  Descriptor high_water_;
  bool is_second_version_ = false;
  std::optional<int> running_;
  std::map<int, std::int64_t> peaks_;
  std::int64_t largest_bytes_ = 0;
};

/// Writes into the traces of the processes.
class TrialMetering {
 public:
  struct Parts {
    const TrialPlan& plan;
    TrialProcesses& processes;
    TrialMeters& meters;
    TextMarks& text_marks;
    /// Outside meters rest in the reference role's even rounds.
    bool rest_in_even_rounds = false;
    std::function<std::int64_t()> clock = monotonic_ns;
    TrialCgroup group = {};  // NOLINT(readability-redundant-member-init): -Wextra
    std::int64_t first_sweep_after_ns = kSecondNs;
  };

  /// The parts must outlive this.
  explicit TrialMetering(const Parts& parts);

  /// What `process` has sent through annotate.h.
  void take_marks(SupervisedProcess& process);
  /// What logs say. A line of the role `tree` is about every process that runs.
  void take_lines(const std::vector<MarkedLine>& lines);
  /// What is due: samples, the control group's parts, PSS where no round's end is waited for.
  /// Returns whether a sample was due.
  bool sample(std::int64_t now_ns);
  /// What is still there is about to be told to end: PSS, once, where no round's end brings it.
  void about_to_stop();

  /// All of the job's processes are gone.
  void end() { cgroup_peak_.end(of_.group); }

  /// Of the control group when most was sampled.
  [[nodiscard]] const CgroupPeak& cgroup_peak() const { return cgroup_peak_; }
  [[nodiscard]] const CgroupRounds& cgroup_rounds() const { return cgroup_rounds_; }

 private:
  // Of these, `process` is null where descendants are a role of their own.
  void take(RoleTrace& trace, SupervisedProcess* process, MarkEvent event);
  void take_line(RoleTrace& trace, SupervisedProcess* process, const MarkedLine& line,
                 bool overtaken);
  MarkSizes sizes_at(const MarkedLine& line, RoleTrace& trace, bool overtaken);
  void note_round(RoleTrace& trace, SupervisedProcess* process, MarkEvent& event);
  void lend_round(const std::string& from, const Mark& mark);
  void sweep_at_round_end(const std::string& role, int round);
  [[nodiscard]] bool sweeps_at_round_ends_only() const;
  bool sweep_all(TrialMeters::Need need, bool at_round_end);
  [[nodiscard]] bool is_reference(const std::string& role) const;

  Parts of_;
  std::int64_t begin_ns_;
  std::map<std::string, RoleMemory> role_memory_;
  CgroupPeak cgroup_peak_;
  CgroupRounds cgroup_rounds_;
  std::int64_t sweep_due_ns_;
  std::optional<std::int64_t> last_round_swept_ns_;
  bool is_about_to_stop_ = false;
};

}  // namespace memduel
