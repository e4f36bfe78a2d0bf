// The course of a role's memory from round to round.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/results.h"

namespace memduel {

/// Median over the trials that count of each round's peak RSS, in bytes, in the order of the
/// rounds.
std::vector<double> round_peaks(const Results& results, const std::string& arm,
                                const std::string& role);

}  // namespace memduel
