#include "cli/profile_file.h"

#include "profilers/readers/registry.h"

namespace memduel::cli {

Profile open_profile(const std::filesystem::path& file) {
  return read_profile(file);
}

std::optional<ProfileKind> kind_from(const std::string& word) {
  if (word.empty()) return std::nullopt;
  return profile_kind_from(word);
}

}  // namespace memduel::cli
