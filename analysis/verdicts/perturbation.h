// How much a tracer changed what it looked at: profile trials against the measure trials of an arm.
#pragma once

#include <vector>

#include "analysis/values/results.h"
#include "base/run_data.h"

namespace memduel {

/// One entry per tracer and arm that has profile trials and measure trials that lived; ratios of
/// medians. Tracers stand in the order of their first trial.
std::vector<Perturbation> perturbations(const RunData& run);

}  // namespace memduel
