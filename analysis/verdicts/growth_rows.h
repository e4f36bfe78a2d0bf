// The growth section of the results: every arm and role, per round and per minute.
#pragma once

#include <string>
#include <vector>

#include "analysis/growth/growth.h"
#include "analysis/growth/observations.h"
#include "analysis/values/results.h"

namespace memduel {

struct AnalysisSettings;

/// A row of the results with the estimate that it tells.
struct GrowthRow {
  Growth row;
  GrowthEstimate estimate;
};

/// Rows for the arms and roles that have end_rss_bytes in three rounds or more after warm-up: of
/// the live heap, which has almost no noise, where every round has it; of the resident set per
/// round; and per minute, of each trial at its own pace. Per minute alone for those that mark no
/// rounds and live for ten seconds or more. Judged at `alpha` for settings.horizon_rounds. The
/// limit to project to is settings.memory_limit_bytes, else environment.memory_limit_bytes.
/// Multiples of the model are given where a gauge `model_bytes` or workload.model_bytes tells its
/// size.
std::vector<GrowthRow> growth_rows(const RunData& run, const Observations& observations,
                                   const std::vector<std::string>& roles,
                                   const AnalysisSettings& settings, double alpha);

}  // namespace memduel
