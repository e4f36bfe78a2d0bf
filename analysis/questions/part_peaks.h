// How much each part of a training took at its highest: parameters, gradients, optimizer,
// activations, data.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/results.h"

namespace memduel {

/// One part, or all tensors together.
struct PartPeak {
  std::string name;
  std::vector<std::optional<double>> bytes;  ///< one per arm; absent where it was not measured

  /// Of an arm to the baseline, where both are known and the baseline's is not 0.
  [[nodiscard]] std::optional<double> ratio(std::size_t arm) const;
};

/// Of one role.
struct PartPeaks {
  std::string role;
  std::vector<std::string> arms;  ///< the baseline first
  std::vector<PartPeak> parts;
};

/// Of each role whose rounds have gauge parameter_bytes; arms of an ablation are left out. A
/// trial's own gauge is that of its last round, so the rounds are what is looked at.
std::vector<PartPeaks> part_peaks(const Results& results);

}  // namespace memduel
