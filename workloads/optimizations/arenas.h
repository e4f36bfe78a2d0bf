// Switch arenas: how many heaps glibc's malloc keeps. Threads that allocate at the same time get
// one each, up to eight per core; what one of them holds free serves no thread of another.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace memduel {

/// "default" as absent, else what memduel/memory.h's limit_arenas takes. Throws Error(usage).
std::optional<int> choose_arenas(const nlohmann::json& value);

}  // namespace memduel
