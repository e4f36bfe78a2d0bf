// Profiles in the formats of other viewers.
#pragma once

#include <optional>
#include <string>

#include "profilers/profile/model/profile.h"

namespace memduel {

/// google/pprof's protobuf, gzipped: allocated, live, peak and temporary blocks and bytes, already
/// unbiased; rounds and phases are the labels `round` and `phase` (`pprof -tagroot=round,phase`).
std::string export_pprof(const Profile& profile);

/// One line per stack, outermost frame first, `;` between frames, then its bytes: Brendan Gregg's
/// folded stacks.
std::string export_folded(const Profile& profile, ProfileKind kind);

/// The kind that was asked for, else the first of peak, live, allocated that the profile has.
/// Throws Error(io) when it has none of the kind: naming `file`, with what was noted when it was
/// read.
ProfileKind choose_kind(const Profile& profile, std::optional<ProfileKind> wanted,
                        const std::string& file = {});

}  // namespace memduel
