// Whether a plan can be run at all.
#pragma once

#include "experiment/contract/trial_plan.h"

namespace memduel {

/// Throws Error(usage) for a plan without processes or without one that ends the trial, an empty
/// argv, a role that is named twice or `tree`, an unknown or circular `after`, an unknown meter.
void check_plan(const TrialPlan& plan);

}  // namespace memduel
