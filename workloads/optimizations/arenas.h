// Switches arenas and client_arenas: how many heaps glibc's malloc keeps. Threads that allocate at the same time get
// one each, up to eight per core; what one of them holds free serves no thread of another.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace memduel {

/// `absent` as absent, else the most arenas, the main one counted. Throws Error(usage) naming the
/// switch.
std::optional<int> choose_arenas(const char* switch_name, const char* absent,
                                 const nlohmann::json& value);

/// For the process, as MALLOC_ARENA_MAX in its environment would be; absent: leaves it at that.
/// Call it before the role's threads allocate: an arena that exists stays. Other allocators do not
/// hear it. Throws Error(cannot_measure) where glibc refuses.
void limit_arenas(std::optional<int> most);

}  // namespace memduel
