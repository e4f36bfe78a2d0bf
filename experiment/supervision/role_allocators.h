// Whether the processes of a trial run under the allocator that the arm names.
#pragma once

#include <cstdint>

#include "experiment/supervision/supervisor_result.h"
#include "experiment/supervision/trial_processes.h"
#include "experiment/trial/allocator_check.h"

namespace memduel {

/// What is found wrong fails the trial.
class RoleAllocators {
 public:
  /// All three must outlive this.
  RoleAllocators(const TrialPlan& plan, TrialProcesses& processes, TrialOutcome& outcome)
      : plan_(plan), processes_(processes), outcome_(outcome) {}

  /// From outside, while they live: a trial that lacks it is over before it has taken its time.
  void look(std::int64_t now_ns);
  /// By what was written inside them, once they are all gone.
  void verify();

 private:
  const TrialPlan& plan_;
  TrialProcesses& processes_;
  TrialOutcome& outcome_;
  AllocatorWatch watch_;
};

}  // namespace memduel
