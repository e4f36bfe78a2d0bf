// The snapshots of processes that ran at once, with what several of them map counted once.
#pragma once

#include <vector>

#include "profilers/profile/questions/profile_difference.h"

namespace memduel {

/// Of all trials of a side the process images with snapshots that ran at one time and have most
/// memory together, in the order of their start. Each snapshot is of its own process's peak. An
/// image of which nothing says when it ran counts by itself. Empty without snapshots.
std::vector<const Profile*> snapshots_at_once(const ProfileSide& side);

/// By process, the parts of its snapshot that no process before it has counted. What a forked
/// process shares is its parent's; where the parent is not among the processes, that of the sibling
/// with most of it. The pages of a file are those of the process with most of them.
std::vector<std::vector<ResidentPart>> parts_counted_once(
    const std::vector<const Profile*>& processes);

/// The same by stacks.
std::vector<LiveSites> sites_counted_once(const std::vector<const Profile*>& processes);

}  // namespace memduel
