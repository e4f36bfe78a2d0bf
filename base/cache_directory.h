// The directory for what memduel keeps between runs: symbols and calibrations.
#pragma once

#include <filesystem>
#include <optional>

namespace memduel {

/// $XDG_CACHE_HOME/memduel or ~/.cache/memduel; it may not exist yet. std::nullopt if neither
/// variable is an absolute path, since other users could change a cache in a shared directory.
std::optional<std::filesystem::path> cache_directory();

}  // namespace memduel
