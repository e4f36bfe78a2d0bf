// The directory for what memduel keeps between runs: symbols and calibrations.
#pragma once

#include <filesystem>
#include <optional>

namespace memduel {

/// $XDG_CACHE_HOME/memduel or ~/.cache/memduel; it may not exist yet. std::nullopt if neither
/// variable holds an absolute path: a directory that all users share is no place for it.
std::optional<std::filesystem::path> cache_directory();

}  // namespace memduel
