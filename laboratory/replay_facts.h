// What the laboratory says of its jobs beside their processes: groups, default gates and lower
// bounds. docs/lower-bounds.md derives the bounds.
#pragma once

#include <nlohmann/json.hpp>

#include "base/job_facts.h"

namespace memduel {

/// @param workload resolved, of any kind but `command`.
JobFacts replay_facts(const nlohmann::json& workload);

}  // namespace memduel
