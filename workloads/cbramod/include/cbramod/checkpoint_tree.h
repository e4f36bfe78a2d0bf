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
  std::uint64_t links = 1;  ///< names that the file has, here or elsewhere

  /// Whether it still is what it was; another name more or less changes nothing.
  [[nodiscard]] bool is_same_as(const DirectoryEntry& before) const;
};

/// Every function throws Error(io) that names the path and the system's reason.
class HeldDirectory {
 public:
  /// The directory that the kernel resolves `path` to: links above its last name are followed, `..`
  /// leads where it leads from there. The last name must not be a link, not even before "/" or
  /// "/.".
  explicit HeldDirectory(const std::filesystem::path& path);
  [[nodiscard]] HeldDirectory child(const std::string& name) const;

  /// Without "." and "..", by name.
  [[nodiscard]] std::vector<DirectoryEntry> entries() const;
  /// Nothing when there is no such entry.
  [[nodiscard]] std::optional<DirectoryEntry> look(const std::string& name) const;
  /// A regular file of at most `most` bytes.
  [[nodiscard]] std::string read(const std::string& name, std::size_t most) const;
  /// Whether this process may remove `name`, by the permissions of the directory, by the owner of
  /// the file where the directory is sticky, and by what is immutable or can only be appended to.
  [[nodiscard]] bool may_remove(const std::string& name) const;
  void remove(const std::string& name) const;

  /// As it was named.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Where it is now: absolute, without links.
  [[nodiscard]] std::filesystem::path location() const;

 private:
  HeldDirectory(Descriptor descriptor, std::filesystem::path path);

  Descriptor descriptor_;
  std::filesystem::path path_;
};

}  // namespace memduel
