// What a workload's training takes on this machine, and the largest batch of it that fits.
#pragma once

#include "budget/budget_report.h"
#include "fl/worker_config.h"

namespace memduel {

/// Trains for a few steps, on a model and an optimizer of its own. Throws Error(usage) for a
/// workload that trains no model, Error(cannot_measure) without the device, Error(io) without the
/// data set.
BudgetReport probe_budget(const WorkerConfig& config, const BudgetRequest& request);

}  // namespace memduel
