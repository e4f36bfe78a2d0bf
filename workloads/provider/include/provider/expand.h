// What memduel-fl answers as a provider (docs/providers.md): a replay as a job, and what this
// machine has of what the replays need.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "config/provider.h"

namespace memduel {

/// The answer to `expand`: the processes of memduel-worker, with every default of the workload and
/// every switch written out. Throws Error(usage) at the place in the request's "origin".
nlohmann::json expand_replay(const nlohmann::json& request);

/// The answer to `site`: data_dir, and what describes the machine's worker. Throws
/// Error(cannot_measure) for what it cannot do, Error(io) for a data set that is not here.
nlohmann::json describe_site(const nlohmann::json& request);

/// What memduel-fl answers to any of the three, in this process.
nlohmann::json ask_fl(const Provider& provider, const std::string& word,
                      const nlohmann::json& request);

// What this machine has of what the replays need.

/// "rows": name, ok, detail and advice of each; "cuda": whether its LibTorch can use a GPU, and
/// else "no_cuda", why not.
nlohmann::json describe_fl();

}  // namespace memduel
