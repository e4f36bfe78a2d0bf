// Names that trials and builds carry in their environment and their control group, so that what is
// left of one can be found, also by another memduel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace memduel {

/// PID-START-CLOCK-ID of the calling process, whose start tells it from another of that number: a
/// name that no other trial on this machine has.
std::string unique_trial_name(std::int64_t id);

/// Whether the memduel that gave this name has ended. False for what is no such name.
bool owner_has_ended(std::string_view name);

}  // namespace memduel
