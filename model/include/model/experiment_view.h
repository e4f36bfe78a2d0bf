// The parts of a resolved config that the analysis needs.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/run_data.h"

namespace memduel {

/// The value at a JSON pointer of a resolved config; null where there is none.
const nlohmann::json& setting_of(const nlohmann::json& config, const char* path);

/// Which arm measures a switch; without one, why none does.
struct AblationArm {
  std::optional<std::string> arm;
  bool idle = false;  ///< none, because the switch changes nothing there
  std::string why_not;
};

struct AblationSwitch {
  std::string name;
  AblationArm added_alone;
  AblationArm left_out;
};

/// How the arms of `memduel ablate` take a candidate apart.
struct AblationView {
  std::string candidate;
  std::vector<AblationSwitch> switches;
};

struct ExperimentView {
  std::string name;
  std::string baseline;
  std::vector<std::string> arms;  ///< baseline first, then as in the config
  /// Twins of another arm ("twin_of"): their rows are never gates, and a run whose control flags is
  /// not believed. Empty where there is no other candidate: then the twin is the candidate.
  std::set<std::string> control_arms;
  std::map<std::string, nlohmann::json> optimizations;  ///< by arm
  std::map<std::string, std::string> allocators;        ///< by arm, of those that name one
  std::optional<AblationView> ablation;
  /// The arms that only take the candidate apart: never gates, never rows of the comparison.
  std::set<std::string> ablation_arms;
};

/// The workload whose processes ran: a provider's where it made one, else the config's. Null where
/// the config has none.
const nlohmann::json& workload_that_ran(const nlohmann::json& config);

/// The same from a config alone, without the fallback to the trials.
ExperimentView view_config(const nlohmann::json& config);

/// Throws Error(usage) when the baseline is no arm. Without arms in the config they are those of
/// the trials, the first trial's arm being the baseline.
ExperimentView view_experiment(const RunData& run);

/// Those of the profile trials, in the order of their first trial.
std::vector<std::string> tracers_of(std::span<const TrialData> trials);

}  // namespace memduel
