// Profiles that one command needs several times: each file is read once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>

#include "profile/profile.h"

namespace memduel {

/// Keeps what it has read. A profile has less memory than its file and takes some 200 times as long
/// to read as to copy. Several threads may use it at once.
class ProfileReader {
 public:
  /// As read_profile(). A file must not change afterwards. Throws Error(io).
  Profile read(const std::filesystem::path& file);

 private:
  void keep(const std::filesystem::path& file, const Profile& profile);

  std::mutex mutex_;
  std::map<std::filesystem::path, Profile> kept_;
  std::uintmax_t kept_bytes_ = 0;  ///< of the files
};

}  // namespace memduel
