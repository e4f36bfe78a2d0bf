// The sections differences and difference_totals of results.json.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/json/json_reader.h"
#include "analysis/values/results.h"

namespace memduel {

nlohmann::json difference_to_json(const Difference& row);
nlohmann::json difference_total_to_json(const DifferenceTotal& total);

/// Each throws Error(io) that names the JSON path, what was found and what was expected.
Difference difference_from_json(const JsonReader& in);
DifferenceTotal difference_total_from_json(const JsonReader& in);

}  // namespace memduel
