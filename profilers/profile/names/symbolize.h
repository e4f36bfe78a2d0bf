// Names for addresses, after the run and outside the measured process: by build id, with inlined
// frames, from separate debug files where they are installed.
#pragma once

#include <filesystem>
#include <optional>

#include "profilers/profile/model/profile.h"

namespace memduel {

struct SymbolOptions {
  /// Names that were found are kept here by build id; absent: nowhere.
  std::optional<std::filesystem::path> cache_directory;
  bool debuginfod = false;  ///< ask the servers of DEBUGINFOD_URLS
};

/// $XDG_CACHE_HOME or ~/.cache, then memduel/symbols; absent when there is no home.
std::optional<std::filesystem::path> default_symbol_cache();

/// Fills ProfileLocation::names of native locations that have none. A module whose file is gone or
/// has another build id by now gets `module+0x1234`, never the name of a neighbour, and a note.
void symbolize(Profile& profile, const SymbolOptions& options);

/// A C++ or Rust name as people write it; other names unchanged.
std::string demangle(const std::string& name);

}  // namespace memduel
