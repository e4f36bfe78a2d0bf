// A file that comes to be whole or not at all: it is written beside its place under a name that
// nobody can foresee, synced and renamed. What a symlink leads to is replaced, not the symlink; a
// device, a pipe or what somebody has open (/dev/stdout) is written through.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/descriptor.h"

namespace memduel {

/// Every function throws Error(io) that names the path and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// What is not finished is removed.
  ~AtomicFile();

  void write(std::string_view bytes);
  /// After this `path` holds what was written, also when the machine fails.
  void finish();

 private:
  std::filesystem::path path_;
  std::filesystem::path target_;     ///< path, symlinks followed
  std::filesystem::path temporary_;  ///< empty where it is written through
  Descriptor descriptor_;
};

}  // namespace memduel
