#include "readers/profile_reader.h"

#include <system_error>

#include "readers/read_profile.h"

namespace memduel {
namespace {

/// A run of hundreds of profiles is read in little memory; its last files are read more than once.
constexpr std::uintmax_t kMostKeptBytes = std::uintmax_t{256} << 20;

}  // namespace

Profile ProfileReader::read(const std::filesystem::path& file) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = kept_.find(file);
    if (known != kept_.end()) return known->second;
  }
  Profile profile = read_profile(file);
  keep(file, profile);
  return profile;
}

void ProfileReader::keep(const std::filesystem::path& file, const Profile& profile) {
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(file, unknown);
  if (unknown) return;
  const std::lock_guard lock(mutex_);
  if (kept_bytes_ + bytes > kMostKeptBytes || !kept_.emplace(file, profile).second) return;
  kept_bytes_ += bytes;
}

}  // namespace memduel
