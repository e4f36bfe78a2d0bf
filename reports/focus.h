// Which candidate of several the first screen is about.
#pragma once

#include <string>

#include "verdict/results.h"

namespace memduel {

/// The first candidate that failed a gate; else the best one, or, if its time is not decided, the
/// fastest of those whose memory and time both improved. Empty without candidates.
std::string candidate_in_focus(const Results& results);

}  // namespace memduel
