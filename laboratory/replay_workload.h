// A workload of the laboratory, checked and with every default.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace memduel {

/// The laboratory's schema, as built in.
const nlohmann::json& laboratory_schema();

/// `workload` with every default of its kind. Throws Error(usage) at its place in `origin`.
nlohmann::json resolve_replay_workload(nlohmann::json workload, const std::string& origin);

}  // namespace memduel
