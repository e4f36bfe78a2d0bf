// A file that comes to be whole or not at all: it is written beside its place under a name that
// nobody can foresee, synced and renamed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

#include "base/descriptor.h"

namespace memduel {

/// Who chose the path, and so what is done with what is there and no regular file.
enum class Target {
  /// memduel: the name is its own, so whatever has it is replaced and no symlink is followed.
  own,
  /// The user: a symlink keeps being one, and what it leads to is replaced; a device, a pipe or
  /// what somebody has open (/dev/stdout) is written through.
  named,
};

/// Whether what is there is no file that could be replaced: a device, a pipe, a socket, or what
/// somebody has open (/dev/stdout, /dev/fd/N).
bool is_written_through(const std::filesystem::path& path);

/// Where a path leads if a symlink has its name, also one that leads to nothing; else the path.
std::filesystem::path file_behind(const std::filesystem::path& path);

/// Every function throws Error(io) that names the path and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path, Target target = Target::own,
                      mode_t mode = 0644);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// What is not finished is removed.
  ~AtomicFile();

  void write(std::string_view bytes);
  /// After this `path` holds what was written, also when the machine fails.
  void finish();

 private:
  std::filesystem::path path_;
  std::filesystem::path place_;      ///< path, or what it leads to
  std::filesystem::path temporary_;  ///< empty where it is written through
  Descriptor descriptor_;
};

}  // namespace memduel
