#include "base/cache_directory.h"

#include <cstdlib>

namespace memduel {

std::optional<std::filesystem::path> cache_directory() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::filesystem::path(cache) / "memduel";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return std::nullopt;
  return std::filesystem::path(home) / ".cache" / "memduel";
}

}  // namespace memduel
