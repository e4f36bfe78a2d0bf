// What may stand in a config of these workloads: their schema with its defaults, and the switches
// and presets of configs/optimizations.json and configs/presets/.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "config/provider.h"

namespace memduel {

/// The laboratory's schema, as built in.
const nlohmann::json& laboratory_schema();

/// `workload` with every default of its kind. Throws Error(usage) at its place in `origin`.
nlohmann::json resolve_replay_workload(nlohmann::json workload, const std::string& origin);

/// The answer to `catalogue`.
nlohmann::json laboratory_catalogue();

const Catalog& laboratory_catalog();

}  // namespace memduel
