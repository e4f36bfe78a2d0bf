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

/// BOOT-NAMESPACE-USER-PID-START-CLOCK-ID of the calling process; START distinguishes processes
/// that had the same PID. The name is unique across containers and machines. USER identifies the
/// user and the cache directory ($XDG_CACHE_HOME). Memduels that share both end each other's
/// leftovers; no other memduel on the machine does. CLOCK and ID have a fixed number of digits:
/// shells copy their environment to the heap, and its size must not differ from trial to trial.
std::string unique_trial_name(std::int64_t id);

/// Whether the memduel that gave this name has ended. Returns false for any other text, and for a
/// name of another user, cache directory, machine, boot or PID namespace.
bool owner_has_ended(std::string_view name);

}  // namespace memduel
