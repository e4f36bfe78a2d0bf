// Ceilings that a project keeps under review in memduel-budgets.json:
//   { "schema": "memduel.budgets/1", "ceilings": { "server.peak_rss_bytes": "900MiB" } }
// A reviewer sees in one line what a change costs; the price is that ceilings hold for one machine
// and its allocator only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/values/results.h"
#include "analysis/verdicts/gate_grammar.h"

namespace memduel {

/// Throws Error(io) that names the place for anything but the form above, Error(usage) for a wrong
/// name or bound, as a gate would.
std::vector<Gate> budgets_from_json(const nlohmann::json& json, const std::string& where);

/// The budgets with every ceiling set to what `candidate` needed at most plus 2 %, rounded up;
/// growth ceilings to the upper end of its interval. Budgets of rows that were not measured stay;
/// the gate rows of the run are added.
nlohmann::json updated_budgets(const std::vector<Gate>& budgets, const Results& results,
                               const std::string& candidate);

}  // namespace memduel
