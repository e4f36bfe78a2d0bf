// The arms of a replay: every switch with its value, and what may not stand together.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace memduel {

/// The arm of a request with all that its environment sets, too: optimizations and allocator.
/// Throws Error(usage) at `place` for settings that no worker runs together.
nlohmann::json resolve_replay_arm(const nlohmann::json& arm, const nlohmann::json& workload,
                                  const std::string& place);

}  // namespace memduel
