// All of a profile as JSON, for tests.
#pragma once

#include <nlohmann/json.hpp>

#include "profile/profile.h"

namespace memduel {

/// Amounts are {bytes, count, half_width_bytes}. Sites name stacks, and stacks name locations by
/// their index.
nlohmann::json profile_json(const Profile& profile);

}  // namespace memduel
