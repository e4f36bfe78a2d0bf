// Programs of a role that ran one after the other, as a compiler and its assembler: their peaks say
// nothing when they are added up.
#pragma once

#include <string>
#include <vector>

#include "base/run_data.h"
#include "profilers/profile/questions/profile_difference.h"

namespace memduel {

/// What a role's processes were seen to hold together at their peak, in bytes, in each profile
/// trial of an arm; empty where the heap was not metered.
std::vector<double> measured_peaks(const RunData& run, const std::string& arm,
                                   const std::string& role);

/// Whether the peaks of a trial's programs add up to more than the role was ever seen to hold. Of
/// several images of one program the largest counts. False where an image has no counters.
bool ran_in_turn(const ProfileSide& side, const std::vector<double>& measured);

/// Of each trial the image that held most of a heap; nothing of a trial without counters.
ProfileSide only_largest(const ProfileSide& side, Heap heap);

}  // namespace memduel
