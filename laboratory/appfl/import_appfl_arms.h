// The arms of an imported experiment: memduel's replays of APPFL, with the switches that its files
// turn on.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/config/catalog.h"
#include "laboratory/appfl/appfl_sources.h"

namespace memduel {

struct ImportedArms {
  nlohmann::ordered_json arms;
  std::vector<std::string> notes;
};

/// @param kind of the workload. Throws as import_appfl does.
ImportedArms import_appfl_arms(AppflSources& sources, const std::string& kind,
                               const Catalog& catalog);

}  // namespace memduel
