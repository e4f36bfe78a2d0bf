// The checkpoints of a study: one file for each fine-tuning, under the rules of the switches.
#pragma once

#include <filesystem>

#include "training/retention.h"
#include "workloads/federated/state.h"
#include "workloads/fine_tuning/scores.h"
#include "workloads/fine_tuning/switches.h"

namespace memduel {

RetentionRules retention_rules(const FineTuningSwitches& switches);

/// Saves the state as epoch{E}_acc_{}_f1_{}_kappa_{}.pth and removes what the rules do not keep.
/// Files that should go and did not are named on standard error. Throws Error(io).
void save_best(const std::filesystem::path& directory, const State& state, int epoch,
               const Scores& scores, const FineTuningSwitches& switches);

}  // namespace memduel
