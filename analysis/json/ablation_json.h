// The sections lower_bounds, ablation and ablation_totals of results.json.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/json/json_reader.h"
#include "analysis/values/results.h"

namespace memduel {

nlohmann::json lower_bound_to_json(const LowerBound& bound);
nlohmann::json ablation_row_to_json(const AblationRow& row);
nlohmann::json ablation_total_to_json(const AblationTotal& total);

/// Each throws Error(io) that names the JSON path, what was found and what was expected.
LowerBound lower_bound_from_json(const JsonReader& in);
AblationRow ablation_row_from_json(const JsonReader& in);
AblationTotal ablation_total_from_json(const JsonReader& in);

}  // namespace memduel
