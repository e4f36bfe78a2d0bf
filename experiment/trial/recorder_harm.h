// Programs that do not live with a preloaded recorder, which only shows when they die of it.
#pragma once

#include <map>
#include <string>

#include "experiment/contract/trial_run.h"

namespace memduel {

/// Why roles of a failed trial died of what was preloaded into them, by role: of a filter of system
/// calls (SIGSYS), or of a sanitizer's runtime that insists on being first. Empty for every other
/// trial.
std::map<std::string, std::string> harmed_by_recorder(const TrialPlan& plan, const TrialRun& run);

}  // namespace memduel
