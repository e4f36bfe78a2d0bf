// A recorder's file as a profile.
#pragma once

#include <string>
#include <string_view>

#include "profilers/profile/model/profile.h"

namespace memduel {

/// Reads the bytes of a `.mdp` file, finished or left behind by a killed program; what could not be
/// read is in the profile's notes. `name` is for messages. Throws Error(io) when nothing can be
/// read.
Profile profile_from_bytes(std::string_view bytes, const std::string& name);

struct TraceReading;

/// What a file lost, in words; empty when it is whole.
std::string loss_of(const TraceReading& reading);

}  // namespace memduel
