// What this machine has of what the replays need.
#pragma once

#include <nlohmann/json.hpp>

namespace memduel {

/// "rows": name, ok, detail and advice of each; "cuda": whether its LibTorch can use a GPU, and
/// else "no_cuda", why not.
nlohmann::json describe_laboratory();

}  // namespace memduel
