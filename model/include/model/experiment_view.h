// The variants of a run by what they are for.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/run_data.h"

namespace memduel {

struct ExperimentView {
  std::string baseline;
  std::vector<std::string> arms;  ///< baseline first, then as in the config
  /// Twins of another arm ("twin_of"): their rows are never gates, and a run whose control flags is
  /// not believed. Empty where there is no other candidate: then the twin is the candidate.
  std::set<std::string> control_arms;
  /// The arms that only take the candidate apart: never gates, never rows of the comparison.
  std::set<std::string> ablation_arms;
};

/// Of a config alone: the arms as they are in it, without the fallback to the trials.
ExperimentView view_config(const Document& config);

/// Throws Error(usage) when the baseline is no arm. Without arms in the config they are those of
/// the trials, the first trial's arm being the baseline.
ExperimentView view_experiment(const RunData& run);

/// Those of the profile trials, in the order of their first trial.
std::vector<std::string> tracers_of(std::span<const TrialData> trials);

}  // namespace memduel
