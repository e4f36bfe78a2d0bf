// The parts of a resolved config that the analysis needs.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/run_data.h"

namespace memduel {

struct ExperimentView {
  std::string name;
  std::string workload_kind;
  std::string baseline;
  std::vector<std::string> arms;  ///< baseline first, then as in the config
  std::set<std::string> control_arms;
  std::map<std::string, nlohmann::json> optimizations;  ///< by arm
};

/// Throws Error(usage) when the baseline is no arm. Without arms in the config they are those of
/// the trials, the first trial's arm being the baseline.
ExperimentView view_experiment(const RunData& run);

}  // namespace memduel
