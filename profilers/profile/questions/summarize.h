// A profile as text: totals, top stacks, sizes, temporary share, rounds, retention.
#pragma once

#include <string>

#include "profilers/profile/model/profile.h"

namespace memduel {

struct SummaryOptions {
  std::size_t stacks = 10;
  std::size_t frames = 8;   ///< per stack, from the one that tells most outwards
  bool all_frames = false;  ///< also what every program has, innermost first
};

/// Ends with a newline. Amounts of a sampled profile carry their 95 % interval.
std::string summarize(const Profile& profile, const SummaryOptions& options = {});

}  // namespace memduel
