// The columns of the retention matrix, added up by stack.
#pragma once

#include "base/live_at_round_ends.h"
#include "profilers/profile/model/profile.h"

namespace memduel {

/// Stacks are told apart by their functions. Empty without rounds.
LiveAtRoundEnds live_at_round_ends(const Profile& profile);

}  // namespace memduel
