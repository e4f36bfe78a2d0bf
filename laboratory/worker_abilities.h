// What a replay asks of this machine's worker, checked before its first trial.
#pragma once

#include <nlohmann/json.hpp>

namespace memduel {

inline constexpr const char* kNoWorker = "this build has no memduel-worker, which runs the replays";
inline constexpr const char* kSeesNoGpu = "memduel-worker sees no GPU";

/// Throws Error(cannot_measure) naming the place in the config, what is missing and what to do: a
/// device that the worker does not see, a transport or a compression that it was built without.
/// @param workload and arms resolved. @param worker what `memduel-worker describe` printed.
void expect_abilities(const nlohmann::json& workload, const nlohmann::json& arms,
                      const nlohmann::json& worker);

}  // namespace memduel
