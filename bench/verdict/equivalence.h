// Whether the arms still compute the same thing.
#pragma once

#include "model/run_data.h"
#include "verdict/comparison.h"
#include "verdict/results.h"

namespace memduel {

/// The hash of the arm's final model when its measure trials that ended well agree on one.
std::optional<std::string> agreed_model(const RunData& run, const std::string& arm);

/// From the compared models where there are any, else from the hashes, else from the files that
/// trials left; quality metrics (accuracies, losses, other ratios, and of commands what they print
/// under a name of their own) as medians over trials, from the first role that has them in both
/// arms.
Equivalence equivalence_of(const RunData& run, const ArmObservations& baseline,
                           const ArmObservations& candidate);

}  // namespace memduel
