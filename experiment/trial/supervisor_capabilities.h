// What this machine lets memduel do about processes: rows of `memduel doctor`.
#pragma once

#include <vector>

#include "profilers/meters/capabilities.h"

namespace memduel {

/// launcher, subreaper, cgroup (own group for every trial: made and removed once here) and
/// oom_counter, each tried.
std::vector<Capability> supervision_capabilities();

}  // namespace memduel
