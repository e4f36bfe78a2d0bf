// Growth of a program that marks no rounds: its life in equal stretches of time.
#pragma once

#include <vector>

#include "analysis/growth/observations.h"
#include "base/run_data.h"

namespace memduel {

/// Sixty windows of equal length over a sampled resident set, each with the smallest value in it:
/// what a transient peak adds is no growth. Samples become rare where nothing moves, so a value
/// holds until the next one. Empty for a life under ten seconds: all of that is warm-up.
std::vector<RoundEnd> time_windows(const Series& rss);

}  // namespace memduel
