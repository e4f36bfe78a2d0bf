// A directory that is held open. What is reached through it lies in it: no symbolic link is
// followed, and a directory that is renamed or replaced meanwhile leads nowhere else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace memduel {

enum class EntryKind { file, directory, symbolic_link, other };

struct DirectoryEntry {
  std::string name;
  EntryKind kind = EntryKind::other;
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;  ///< since 1970
  std::uint64_t inode = 0;
};

/// Every function throws Error(io) that names the path and the system's reason.
class HeldDirectory {
 public:
  /// Refuses a symbolic link; those above the last name of `path` are followed.
  explicit HeldDirectory(const std::filesystem::path& path);
  [[nodiscard]] HeldDirectory child(const std::string& name) const;

  /// Without "." and "..", by name.
  [[nodiscard]] std::vector<DirectoryEntry> entries() const;
  /// Nothing when there is no such entry.
  [[nodiscard]] std::optional<DirectoryEntry> look(const std::string& name) const;
  /// A regular file of at most `most` bytes.
  [[nodiscard]] std::string read(const std::string& name, std::size_t most) const;
  /// Whether this process may remove what is in it.
  [[nodiscard]] bool may_remove() const;
  void remove(const std::string& name) const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  HeldDirectory(Descriptor descriptor, std::filesystem::path path);

  Descriptor descriptor_;
  std::filesystem::path path_;
};

}  // namespace memduel
