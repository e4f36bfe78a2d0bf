// Words of gates that people write.
#pragma once

#include <nlohmann/json.hpp>

namespace memduel {

/// Among the gates of a config or a command line: the workload's default ones, which then decide.
inline constexpr const char* kDefaultGates = "default";

/// As a config's `default_gates`: without a named gate they decide the exit code of check alone.
inline constexpr const char* kDecideInCheck = "check";

/// Whether the default gates decide the exit code of a run in which no gate is named.
inline bool default_gates_decide_in(const nlohmann::json& config) {
  const auto says = config.find("default_gates");
  return says == config.end() || *says == true;
}

}  // namespace memduel
