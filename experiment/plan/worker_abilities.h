// What an experiment asks of this machine's worker and GPU, checked before its first trial.
#pragma once

#include <nlohmann/json.hpp>

#include "experiment/config/config.h"

namespace memduel {

/// Throws Error(cannot_measure) naming the place in the config, what is missing and what to do: a
/// device that the worker does not see, the meters nvml and cuda without a GPU, a transport or a
/// compression that the worker was built without.
/// @param worker what `memduel-worker describe` printed; an empty object for workloads without one.
void expect_abilities(const Experiment& experiment, const nlohmann::json& worker);

}  // namespace memduel
