// Whether the processes of a trial ran under the allocator that the arm names.
#pragma once

#include "experiment/supervision/supervisor_result.h"
#include "experiment/supervision/trial_processes.h"

namespace memduel {

/// By what was written inside them, once they are all gone. What is wrong fails the trial.
void verify_allocators(const TrialPlan& plan, const TrialProcesses& processes,
                       TrialOutcome& outcome);

}  // namespace memduel
