// Gates on growth in runs that are too short to judge it.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/verdicts/analyse.h"
#include "base/run_data.h"

namespace memduel {

/// Throws Error(usage) for a named gate that decides by growth per round where `config` plans fewer
/// rounds than tell growth from a warm-up. Says nothing where the config does not give the rounds.
void refuse_growth_in_few_rounds(const nlohmann::json& config, const AnalysisSettings& settings);

/// The same by the rounds of the warm-up trials of `run`, all that it has.
void refuse_growth_in_few_rounds(const RunData& run, const AnalysisSettings& settings);

}  // namespace memduel
