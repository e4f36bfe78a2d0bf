// What is measured of a running trial: its marks, each with what the meters read at it, samples,
// and sweeps of PSS.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/marks/monotonic.h"
#include "experiment/marks/text_marks.h"
#include "experiment/supervision/trial_processes.h"
#include "experiment/trial/cgroup_peak.h"
#include "experiment/trial/cgroup_rounds.h"
#include "experiment/trial/role_memory.h"
#include "experiment/trial/trial_meters.h"

namespace memduel {

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
  };

  /// The parts must outlive this.
  explicit TrialMetering(const Parts& parts);

  /// What `process` has sent through annotate.h.
  void take_marks(SupervisedProcess& process);
  /// What logs say.
  void take_lines(const std::vector<MarkedLine>& lines);
  /// What is due: samples, the control group's parts, PSS where no round's end is waited for.
  void sample(std::int64_t now_ns);
  /// What is still there is about to be told to end: PSS, once, where no round's end brings it.
  void about_to_stop();

  /// All of the job's processes are gone.
  void end() { cgroup_peak_.end(of_.group); }

  /// Of the control group when most was sampled.
  [[nodiscard]] const CgroupPeak& cgroup_peak() const { return cgroup_peak_; }
  [[nodiscard]] const CgroupRounds& cgroup_rounds() const { return cgroup_rounds_; }

 private:
  void take(SupervisedProcess& process, MarkEvent event);
  void take_line_mark(SupervisedProcess& process, Mark mark);
  void take_line_mark(RoleTrace& trace, Mark mark);
  void note_round(SupervisedProcess& process, MarkEvent& event);
  void lend_round(const SupervisedProcess& from, const Mark& mark);
  void sweep_at_round_end(const SupervisedProcess& process, int round);
  [[nodiscard]] bool sweeps_at_round_ends_only() const;
  void sweep_all(TrialMeters::Need need, bool at_round_end);
  [[nodiscard]] bool is_reference(const SupervisedProcess& process) const;

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
