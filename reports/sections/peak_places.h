// In which round and phase a role peaks.
#pragma once

#include <string>

#include "verdict/results.h"

namespace memduel {

/// "Peak of server, by the medians of its rounds: original 604.0 MiB in round 5, phase aggregate;
/// optimized …", of the measured trials. Empty where no round has a peak, and of a job
/// of one round.
std::string peak_places(const Results& results, const std::string& role);

}  // namespace memduel
