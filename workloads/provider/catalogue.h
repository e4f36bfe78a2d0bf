// What may be switched in the laboratory's workloads: configs/optimizations.json and
// configs/presets/.
#pragma once

#include <nlohmann/json.hpp>

#include "experiment/config/catalog.h"

namespace memduel {

/// The answer to `catalogue`.
nlohmann::json laboratory_catalogue();

const Catalog& laboratory_catalog();

}  // namespace memduel
