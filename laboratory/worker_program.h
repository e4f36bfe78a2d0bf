// memduel-worker outside trials.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

namespace memduel {

inline constexpr const char* kWorkerProgram = "memduel-worker";

/// memduel-worker beside the running program; absent in a build without it.
std::optional<std::filesystem::path> find_worker();

/// A variable in an arm's environment: the memduel-worker that this arm runs, so that two builds of
/// it can be duelled.
inline constexpr const char* kWorkerVariable = "MEMDUEL_WORKER";

/// What `memduel-worker describe` prints; with a resolved workload also "model": name, parameters
/// and state_bytes of the model that its roles hold. Throws Error(io) when the worker does not run.
nlohmann::json describe_worker(const std::filesystem::path& worker,
                               const std::optional<nlohmann::json>& workload = std::nullopt);

/// What `memduel-worker probe` prints for a request. Throws Error(usage) or Error(cannot_measure)
/// in the worker's words, Error(io) when it does not run.
nlohmann::json probe_worker(const std::filesystem::path& worker, const nlohmann::json& request,
                            double within_seconds);

}  // namespace memduel
