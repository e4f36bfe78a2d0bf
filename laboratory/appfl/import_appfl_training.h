// What a client does in a round: model, data, steps, optimizer.
#pragma once

#include <nlohmann/json.hpp>

#include "laboratory/appfl/appfl_sources.h"

namespace memduel {

/// Adds the keys of a federated workload to `workload`, which has its `clients`. Throws as
/// import_appfl does.
void import_appfl_training(AppflSources& sources, nlohmann::ordered_json& workload);

}  // namespace memduel
