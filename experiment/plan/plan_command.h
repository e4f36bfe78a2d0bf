// An arm lowered to processes, before environments are made equal.
#pragma once

#include "experiment/config/command_placeholders.h"
#include "experiment/plan/plan.h"

namespace memduel {

/// The job's processes and all else of it, with placeholders replaced.
PlannedTrial plan_command(const Job& job, const Arm& arm, const PlaceholderValues& values);

}  // namespace memduel
