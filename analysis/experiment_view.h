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
  /// Twins of another arm ("twin_of"): their rows are never gates, and a run whose control flags is
  /// not believed. Empty where there is no other candidate: then the twin is the candidate.
  std::set<std::string> control_arms;
  std::map<std::string, nlohmann::json> optimizations;  ///< by arm
};

/// The same from a config alone, without the fallback to the trials.
ExperimentView view_config(const nlohmann::json& config);

/// Throws Error(usage) when the baseline is no arm. Without arms in the config they are those of
/// the trials, the first trial's arm being the baseline.
ExperimentView view_experiment(const RunData& run);

}  // namespace memduel
