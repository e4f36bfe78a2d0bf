// What a resolved workload says of its job's roles.
#pragma once

#include <nlohmann/json.hpp>

#include "base/job_facts.h"

namespace memduel {

/// @param workload resolved: of a kind that the schema knows, with its defaults.
JobFacts job_facts_of(const nlohmann::json& workload);

}  // namespace memduel
