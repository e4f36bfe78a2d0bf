// What a role must hold at once, whatever the program does: the job says how often it holds the
// model's parameters (JobFacts::held_models), the environment how large they are.
// docs/lower-bounds.md derives it and states what it assumes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "verdict/comparison.h"
#include "verdict/results.h"

namespace memduel {

/// The sizes from which the bounds follow, in bytes.
struct ModelSizes {
  double state = 0;
  double parameters = 0;
};

/// The model's sizes as the run's environment holds them ("model": state_bytes, parameters);
/// absent for a workload without a model of ours.
std::optional<ModelSizes> model_sizes(const nlohmann::json& environment);

/// The bounds of a job, without multiples.
std::vector<LowerBound> bounds_of(const JobFacts& job, const ModelSizes& model);

/// The same with each arm's multiple: the median over its trials that lived, over the bound. Bounds
/// that no arm was measured against are left out.
std::vector<LowerBound> lower_bounds(const RunData& run, const Observations& observations);

/// A warning for each arm whose peak lies below its bound, which nothing can: the peak was measured
/// from an idle level that is too high.
std::vector<Note> doubts_of_bounds(const std::vector<LowerBound>& bounds);

}  // namespace memduel
