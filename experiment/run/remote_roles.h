// What was measured of a trial's roles on other machines, taken into the trial.
#pragma once

#include "experiment/contract/trial_plan.h"
#include "experiment/contract/trial_run.h"

namespace memduel {

/// Puts what the watch of each remote role left in the place of what was seen of its srun, with
/// times as of this machine, and leaves out the role "tree": no machine had all processes. The
/// trial has failed where such a run is missing, carries another token or is of another memduel.
void take_remote_roles(const TrialPlan& plan, TrialRun& run);

}  // namespace memduel
