// Made-up profiles whose every number is written down here, for tests of the flame graph.
#pragma once

#include <string>

#include "profile/profile.h"

namespace memduel {

/// `side` 0 is the baseline, 1 the candidate. Kinds:
/// plain: live at the peak, in MiB, baseline and candidate; `…` is main > serve():
///   … > aggregate(State&) > clone(State) > std::vector<float>::vector > operator new: 400, 200
///   … > stage(Path const&): 0, 20;  … > old_log(): 10, 0;  … > new_log(): 0, 10;  main > load():
///   30, 30 clone's blocks are born in phase aggregate, a quarter in rounds 1 and 2, half in round
///   3; of round b there are 10 b + e live at the end of round e, half as much in the candidate;
/// hostile: the same with names that try to break out, to reorder, and to be too long;
/// one: a single sample of 64 bytes;
/// large: 500,000 different stacks, 54 frames deep on average, of 20,001 functions.
Profile sample_profile(const std::string& kind, int side);

}  // namespace memduel
