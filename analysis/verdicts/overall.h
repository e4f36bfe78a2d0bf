// The answer to a whole run, from its rows and gates.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/results.h"

namespace memduel {

/// A failed gate comes first, then one that could not be measured, then an inconclusive one. A run
/// in which one of `judged` or the baseline never ended well, or whose variants have nothing in
/// common, measured nothing.
Overall overall_of(const Results& results, const std::vector<std::string>& judged);

}  // namespace memduel
