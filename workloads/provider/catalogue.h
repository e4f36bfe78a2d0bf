// What may stand in a config of these workloads: their schema with its defaults, and the switches
// and presets of configs/switches.json and configs/presets/.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "config/provider.h"

namespace memduel {

/// The FL workloads' schema, as built in.
const nlohmann::json& fl_schema();

/// `workload` with every default of its kind. Throws Error(usage) at its place in `origin`.
nlohmann::json resolve_replay_workload(nlohmann::json workload, const std::string& origin);

/// The answer to `catalogue`.
nlohmann::json fl_catalogue();

const Catalog& fl_catalog();

}  // namespace memduel
