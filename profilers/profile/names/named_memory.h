// The names of runtimes' memory in the stacks of a profile.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "profilers/profile/model/profile.h"

namespace memduel {

/// Puts a frame with the name of a runtime's memory ("V8 heap") outside of the runtime's own frames
/// in each stack that made a mapping, those of a snapshot among them. After symbolization, once.
void name_runtime_memory(Profile& profile);

/// A stack as far as that frame, without the runtime's own; itself where it has none.
std::uint32_t without_runtime(const Profile& profile, std::uint32_t stack);

/// Stacks that are one without the runtime's own frames as one; the largest first.
std::vector<std::pair<std::uint32_t, Estimate>> without_runtimes(
    const Profile& profile, const std::vector<std::pair<std::uint32_t, Estimate>>& stacks);

}  // namespace memduel
