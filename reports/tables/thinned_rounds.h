// A page of a run with many rounds shows some of them.
#pragma once

#include <cstddef>

#include "analysis/values/results.h"

namespace memduel {

/// Numbers by round that a page holds: 20 MB of JSON, 1 MB of them packed.
inline constexpr std::size_t kMostRoundValues = 300'000;

/// Leaves one of several successive rounds, in all trials the same: that in which the resident
/// memory of all roles and trials together was largest; the first and the last stay. Returns of how
/// many rounds one is left; 1 where nothing had to go.
int thin_rounds(Results& results, std::size_t most_values = kMostRoundValues);

}  // namespace memduel
