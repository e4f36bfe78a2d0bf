// What a resolved workload says of its job's roles.
#pragma once

#include <nlohmann/json.hpp>

#include "base/job_facts.h"

namespace memduel {

/// @param workload resolved, of kind command: a process with a count of several is a group.
JobFacts job_facts_of(const nlohmann::json& workload);

}  // namespace memduel
