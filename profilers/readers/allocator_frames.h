// The frames of a heap dump's stack that are the allocator's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profilers/profile/model/profile.h"

namespace memduel {

/// How many of a stack's innermost frames belong to the allocator, as pprof and jeprof drop them:
/// all up to the outermost that lies in its library or has the name of one of its entries.
/// `locations` are the profile's, innermost first.
std::size_t allocator_frames(const Profile& profile, const std::vector<std::uint32_t>& locations);

}  // namespace memduel
