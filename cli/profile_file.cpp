#include "cli/profile_file.h"

#include "profilers/profile/load_profile.h"
#include "profilers/profile/symbolize.h"

namespace memduel::cli {

Profile open_profile(const std::filesystem::path& file) {
  Profile profile = load_profile(file);
  const bool finished = profile.info.contains("end");
  if (!finished) symbolize(profile, {default_symbol_cache(), false});
  return profile;
}

std::optional<ProfileKind> kind_from(const std::string& word) {
  if (word.empty()) return std::nullopt;
  return profile_kind_from(word);
}

}  // namespace memduel::cli
