// What a role must hold at once above idle, whatever the program does: docs/lower-bounds.md derives
// it and states what it assumes.
//
//   server                     M
//   client that does not train M
//   client that trains         M + P + moments × P     Adam keeps 2 moments, SGD without momentum 0
//
// M is the bytes of the model's state, P those of its trainable parameters (the gradients' size).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/growth/observations.h"
#include "analysis/values/results.h"

namespace memduel {

/// The sizes from which the bounds follow, in bytes.
struct ModelSizes {
  double state = 0;
  double parameters = 0;
};

/// The model's sizes as the run's environment holds them ("model": state_bytes, parameters);
/// absent for a workload without a model of ours.
std::optional<ModelSizes> model_sizes(const nlohmann::json& environment);

/// The bounds of a workload (workload.kind, workload.optimizer), without multiples.
std::vector<LowerBound> bounds_of(const nlohmann::json& workload, const ModelSizes& model);

/// The same with each arm's multiple: the median over its trials that lived, over the bound. Bounds
/// that no arm was measured against are left out.
std::vector<LowerBound> lower_bounds(const nlohmann::json& config,
                                     const nlohmann::json& environment,
                                     const Observations& observations);

}  // namespace memduel
