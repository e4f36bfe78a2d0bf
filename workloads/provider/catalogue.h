// What may stand in a config of these workloads: what their keys say together, and the switches and
// presets of configs/switches.json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "config/provider.h"

namespace memduel {

/// `workload` with every default of its kind. Throws Error(usage) at its place in `origin`.
nlohmann::json resolve_replay_workload(const nlohmann::json& workload, const std::string& origin);

/// configs/switches.json as built in.
const nlohmann::json& fl_switches();

/// The answer to `catalogue`.
nlohmann::json fl_catalogue();

const Catalog& fl_catalog();

}  // namespace memduel
