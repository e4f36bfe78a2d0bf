// The checkpoints in a directory and below, and a directory that is held open. What is reached
// through it lies in it: no symbolic link is followed, and a directory that is renamed or replaced
// meanwhile leads nowhere else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "util/file.h"

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

/// A file whose name is a checkpoint's (checkpoint_name.h), or that has a sidecar: NAME.json beside
/// NAME, an object of numbers. What the sidecar says counts more than the name, which is rounded.
struct Checkpoint {
  DirectoryEntry file;
  std::optional<DirectoryEntry> sidecar;
  std::optional<std::int64_t> epoch;
  std::map<std::string, double> metrics;
};

struct CheckpointDirectory {
  std::filesystem::path below;  ///< relative to the root; empty for the root itself
  std::vector<Checkpoint> checkpoints;
};

/// What a checkpoint's sidecar is called.
std::string sidecar_name(const std::string& name);

/// With its sidecar.
std::int64_t bytes_of(const Checkpoint& checkpoint);

/// What its removal frees: nothing of a file that has another name, a hard link.
std::int64_t freed_bytes_of(const Checkpoint& checkpoint);

/// Something that is not taken for a checkpoint although it lies among them.
struct LeftAlone {
  std::filesystem::path path;  ///< relative to the root
  std::string why;
};

struct CheckpointTree {
  std::filesystem::path root;                    ///< absolute, without links
  std::vector<CheckpointDirectory> directories;  ///< those that hold checkpoints
  std::vector<LeftAlone> left_alone;
};

enum class Subdirectories { enter, skip };

/// Symbolic links are not followed. Throws Error(io) for a directory that is missing, a link, or
/// cannot be read.
CheckpointTree read_checkpoints(const std::filesystem::path& root, Subdirectories subdirectories);

std::size_t checkpoint_count(const CheckpointTree& tree);
std::int64_t checkpoint_bytes(const CheckpointTree& tree);

}  // namespace memduel
