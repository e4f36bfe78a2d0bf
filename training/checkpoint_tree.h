// The checkpoints in a directory and below.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "training/held_directory.h"

namespace memduel {

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
