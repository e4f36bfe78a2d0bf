// memduel-worker outside trials.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "experiment/config/provider.h"

namespace memduel {

/// memduel-worker beside the running program; absent in a build without it.
std::optional<std::filesystem::path> find_worker();

/// What `memduel-worker describe` prints; with a resolved workload also "model": name, parameters
/// and state_bytes of the model that its roles hold. Throws Error(io) when the worker does not run.
nlohmann::json describe_worker(const std::filesystem::path& worker,
                               const std::optional<nlohmann::json>& workload = std::nullopt);

/// What `memduel-worker probe` prints for a request. Throws Error(usage) or Error(cannot_measure)
/// in the worker's words, Error(io) when it does not run.
nlohmann::json probe_worker(const std::filesystem::path& worker, const nlohmann::json& request,
                            double within_seconds);

}  // namespace memduel
