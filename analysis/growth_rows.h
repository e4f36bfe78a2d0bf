// The growth section of the results: every arm and role, per round and per minute.
#pragma once

#include <string>
#include <vector>

#include "analysis/observations.h"
#include "analysis/results.h"

namespace memduel {

struct AnalysisSettings;

/// Rows for the arms and roles that have end_rss_bytes in three rounds or more after warm-up, and
/// per minute for those that mark no rounds and live for ten seconds or more. The
/// limit to project to is settings.memory_limit_bytes, else environment.memory_limit_bytes.
/// Multiples of the model are given where a gauge `model_bytes` or workload.model_bytes tells its
/// size.
std::vector<Growth> growth_rows(const RunData& run, const Observations& observations,
                                const std::vector<std::string>& roles,
                                const AnalysisSettings& settings);

}  // namespace memduel
