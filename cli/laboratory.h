// What verbs ask the laboratory of replays, where it is installed.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace memduel::cli {

/// Its path; absent where it is neither beside memduel nor in PATH.
std::optional<std::string> find_laboratory();

/// What it says of this machine: "rows", "cuda" and "no_cuda". An empty object where there is none.
/// Throws Error(io) where it does not run.
nlohmann::json ask_laboratory_of_machine();

/// Runs its `list KIND` in this process's place. Throws Error(cannot_measure) where there is none.
int list_of_laboratory(const std::string& kind);

}  // namespace memduel::cli
