// results.json, schema "memduel.results/1": written and read here and nowhere else. Numbers that
// are absent are written as null where the schema always shows the field, and left out elsewhere.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/results.h"

namespace memduel {

nlohmann::json results_to_json(const Results& results);

/// Throws Error(io) that names the JSON path, what was found and what was expected; another schema
/// version is one of those errors. `where` names the file in it. Unknown fields are ignored, so
/// that sections added by later versions do no harm.
Results results_from_json(const nlohmann::json& json, const std::string& where = "results.json");

}  // namespace memduel
