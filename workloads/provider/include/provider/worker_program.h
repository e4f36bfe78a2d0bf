// memduel-worker outside trials: where it is, what it describes and measures, and what a workload
// needs of it, checked before its first trial.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "config/provider.h"

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

inline constexpr const char* kNoWorker =
    "this build has no memduel-worker, which runs the built-in FL workloads";
inline constexpr const char* kSeesNoGpu = "memduel-worker found no GPU";

/// Throws Error(cannot_measure) naming the place in the config, what is missing and what to do: a
/// device that the worker does not see, a transport or a compression that it was built without.
/// @param workload and arms resolved. @param worker what `memduel-worker describe` printed.
void expect_abilities(const nlohmann::json& workload, const nlohmann::json& arms,
                      const nlohmann::json& worker);

}  // namespace memduel
