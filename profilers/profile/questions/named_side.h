// The amounts of profiles by the functions of their stacks: what match_stacks compares.
#pragma once

#include <limits>
#include <optional>

#include "profilers/profile/questions/profile_difference.h"
#include "profilers/profile/questions/stack_matching.h"

namespace memduel {

/// Frames of a stack that are kept, from the innermost.
inline constexpr std::size_t kWholeStack = std::numeric_limits<std::size_t>::max();

/// The sites of a profile that a question is about.
LiveSites sites_for(const Profile& profile, DifferenceKind kind, Heap heap);

/// Means over the trials of `side`, of each trial the images that the question is about.
NamedSide named_side(const ProfileSide& side, DifferenceKind kind, Heap heap, FunctionNames& names,
                     std::size_t depth = kWholeStack);

/// What the exact counters beside samples say of the same images: the mean over the trials. Absent
/// where nothing was sampled, an image has no counters, or none of them is the question's.
std::optional<double> counted_total(const ProfileSide& side, DifferenceKind kind, Heap heap);

}  // namespace memduel
