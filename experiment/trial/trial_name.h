// Names that trials and builds carry in their environment and their control group, so that what is
// left of one can be found, also by another memduel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace memduel {

/// In the environment of a build: the session that it runs in. A process that left it is a server
/// that outlives builds on purpose (of a compiler cache, of a build system) and is nobody's
/// leftover.
inline constexpr const char* kBuildSessionVariable = "MEMDUEL_BUILD_SESSION";

/// BOOT-NAMESPACE-PID-START-CLOCK-ID of the calling process, whose start tells it from another of
/// that number: a name that no other trial has, in no container and on no other machine.
std::string unique_trial_name(std::int64_t id);

/// Whether the memduel that gave this name has ended. False for what is no such name, and where it
/// cannot be told: for one of another machine, boot or PID namespace.
bool owner_has_ended(std::string_view name);

}  // namespace memduel
