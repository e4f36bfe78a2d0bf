// Runs one trial of a run after the other, and stores each with what it left.
#pragma once

#include "experiment/plan/plan.h"
#include "experiment/run/run_in_progress.h"

namespace memduel {

class TrialRunner {
 public:
  /// Both must outlive this. Makes the directory of the logs. Throws Error(io) where that fails.
  TrialRunner(RunInProgress& run, const RunTrial& run_trial);

  /// Under the next number. Once more, without the recorder, where that is what it died of: the
  /// other arms run as this one did then. Throws Error(io) for input that no trial can read, else
  /// what run_whole_trial throws.
  void run(TrialSlot slot);

  [[nodiscard]] const PlanSite& site() const { return site_; }

 private:
  void refuse_unreadable_input(const TrialRun& trial) const;
  void refuse_unmarked_rounds(const TrialRun& trial) const;
  void keep_profiles_of(const TrialPlan& plan, TrialRun& trial) const;

  RunInProgress& run_;
  const RunTrial& run_trial_;
  PlanSite site_;
};

}  // namespace memduel
