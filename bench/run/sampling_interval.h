// How far apart the stored samples of resident memory are, where that is not what the config says.
#pragma once

#include <optional>
#include <vector>

#include "model/run_data.h"

namespace memduel {

/// Milliseconds between two samples of all processes together, the median of a trial. Absent for a
/// trial of fewer than three samples.
std::optional<double> stored_interval_ms(const std::vector<RoleData>& roles);

/// A limitation if the median of `stored_ms` is clearly longer than `wanted_ms`; `why` is its
/// advice.
std::optional<Note> sampled_less_often(std::vector<double> stored_ms, double wanted_ms,
                                       const char* why);

}  // namespace memduel
