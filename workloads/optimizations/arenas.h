// Switches arenas and client_arenas: how many heaps glibc's malloc keeps. Threads that allocate at
// the same time get one each, up to eight per core; what one of them holds free serves no thread of
// another.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace memduel {

/// `absent` as absent, else what memduel/memory.h's limit_arenas takes. Throws Error(usage) naming
/// the switch.
std::optional<int> choose_arenas(const char* switch_name, const char* absent,
                                 const nlohmann::json& value);

}  // namespace memduel
