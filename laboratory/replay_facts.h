// The laboratory's kinds of workload as jobs: their roles, default gates and lower bounds.
// docs/lower-bounds.md derives the bounds.
#pragma once

#include <nlohmann/json.hpp>

#include "base/job_facts.h"

namespace memduel {

/// @param workload resolved, of any kind but `command`.
JobFacts replay_facts(const nlohmann::json& workload);

}  // namespace memduel
