// What APPFL's files train, on what, and how it travels, as the workload of an experiment.
#pragma once

#include <nlohmann/json.hpp>

#include "laboratory/appfl/appfl_sources.h"

namespace memduel {

/// Throws as import_appfl does.
nlohmann::ordered_json import_appfl_workload(AppflSources& sources);

}  // namespace memduel
