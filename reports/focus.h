// Which candidate of several the first screen is about.
#pragma once

#include <string>

#include "verdict/results.h"

namespace memduel {

/// The first candidate that failed a gate, else the best one. Empty without candidates.
std::string candidate_in_focus(const Results& results);

}  // namespace memduel
