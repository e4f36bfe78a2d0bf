// A file of graphs from a recording of a car's bus.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "workloads/graphs/can_frame.h"
#include "workloads/graphs/injection.h"

namespace memduel {

/// The recording as it is, then once more under each of `attacks`. Identifiers are known when a
/// frame that is no attack has them; all others share the index of the unknown. Throws Error(io).
void write_recorded_graphs(const std::filesystem::path& path, const std::vector<CanFrame>& frames,
                           const std::vector<Attack>& attacks, std::uint64_t seed);

}  // namespace memduel
