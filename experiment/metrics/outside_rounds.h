// The peaks of a trial outside its rounds: one of each part, the largest.
#pragma once

#include <vector>

#include "base/run_data.h"

namespace memduel {

/// Adds a part, or replaces a smaller one of the same kind. Parts stay in the order of time.
void keep_largest(std::vector<OutsideRounds>& parts, const OutsideRounds& part);

/// Turns rounds after number `last` into a part after the rounds.
void drop_rounds_after(RoleData& role, int last);

}  // namespace memduel
