// The keys of the FL workloads: those of each kind with their limits, defaults and one line for
// people. configs/schema/fl.schema.json, the provider's checks and the worker's reading are made of
// these tables.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fl/worker_config.h"
#include "model/places.h"

namespace memduel {

/// Of an experiment whose workload is one of these, with its keys in the order in which people read
/// them.
nlohmann::ordered_json fl_schema_in_order();

/// Of a workload of any kind; those of the kinds go into `definitions`.
nlohmann::ordered_json workload_schema(nlohmann::ordered_json& definitions);

/// federated, state-dict, …
std::vector<std::string> workload_kinds();

/// `workload` with every default of its kind. Throws Error(usage) for the first value that does not
/// follow the schema; `places` has it below "workload".
nlohmann::json resolve_workload(const nlohmann::json& workload, const Places& places);

/// A valid workload, in which what is absent has its default.
WorkloadConfig read_workload(const nlohmann::json& workload);

}  // namespace memduel
