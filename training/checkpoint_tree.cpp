#include "training/checkpoint_tree.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/foreign_json.h"
#include "training/checkpoint_name.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSidecarEnding = ".json";
constexpr std::size_t kMostSidecarBytes = 65536;
constexpr int kMostLevels = 64;

/// The numbers at the top of a sidecar. Throws Error(io).
std::map<std::string, double> parse_sidecar(const std::string& text) {
  const nlohmann::json document = parse_foreign_json(text);
  if (!document.is_object()) throw Error(ExitCode::io, "its sidecar is not a JSON object");
  std::map<std::string, double> metrics;
  for (const auto& [metric, value] : document.items())
    if (value.is_number()) metrics[metric] = value.get<double>();
  return metrics;
}

class TreeReader {
 public:
  explicit TreeReader(Subdirectories subdirectories) : subdirectories_(subdirectories) {}

  CheckpointTree read(const HeldDirectory& root) {
    tree_.root = root.location();
    read_directory(root, {}, 1);
    return std::move(tree_);
  }

 private:
  void read_directory(const HeldDirectory& directory, const fs::path& below, int level) {
    const std::vector<DirectoryEntry> entries = directory.entries();
    std::set<std::string_view> names;
    for (const DirectoryEntry& entry : entries) names.insert(entry.name);
    CheckpointDirectory found{below, {}};
    for (const DirectoryEntry& entry : entries) {
      if (entry.kind == EntryKind::file && !is_sidecar(entry.name, names))
        add_file(directory, entry, names.contains(sidecar_name(entry.name)), found);
      else if (entry.kind == EntryKind::symbolic_link)
        leave(below / entry.name, "a symbolic link");
      else if (entry.kind == EntryKind::other)
        leave(below / entry.name, "no regular file");
    }
    if (!found.checkpoints.empty()) tree_.directories.push_back(std::move(found));
    if (subdirectories_ == Subdirectories::enter) read_below(directory, entries, below, level);
  }

  void read_below(const HeldDirectory& directory, const std::vector<DirectoryEntry>& entries,
                  const fs::path& below, int level) {
    for (const DirectoryEntry& entry : entries) {
      if (entry.kind != EntryKind::directory) continue;
      if (level == kMostLevels)
        leave(below / entry.name, "a directory too deep");
      else
        read_directory(directory.child(entry.name), below / entry.name, level + 1);
    }
  }

  static bool is_sidecar(std::string_view name, const std::set<std::string_view>& names) {
    return name.ends_with(kSidecarEnding) &&
           names.contains(name.substr(0, name.size() - kSidecarEnding.size()));
  }

  void add_file(const HeldDirectory& directory, const DirectoryEntry& entry, bool has_sidecar,
                CheckpointDirectory& found) {
    const std::optional<CheckpointName> said = parse_checkpoint_name(entry.name);
    if (!said && !(has_sidecar && ends_as_checkpoint(entry.name)))
      return leave(found.below / entry.name, "not a checkpoint's name, and no sidecar");
    Checkpoint checkpoint{entry, std::nullopt, std::nullopt, {}};
    if (said) {
      checkpoint.epoch = said->epoch;
      checkpoint.metrics = said->metrics;
    }
    try {
      if (has_sidecar) add_sidecar(directory, checkpoint);
    } catch (const Error& error) {
      return leave(found.below / entry.name, error.what());
    }
    found.checkpoints.push_back(std::move(checkpoint));
  }

  static void add_sidecar(const HeldDirectory& directory, Checkpoint& checkpoint) {
    const std::string name = sidecar_name(checkpoint.file.name);
    checkpoint.sidecar = directory.look(name);
    if (!checkpoint.sidecar || checkpoint.sidecar->kind != EntryKind::file)
      throw Error(ExitCode::io, "its sidecar is no regular file");
    for (const auto& [metric, value] : parse_sidecar(directory.read(name, kMostSidecarBytes)))
      checkpoint.metrics[metric] = value;
  }

  void leave(const fs::path& path, const std::string& why) {
    tree_.left_alone.push_back({path, why});
  }

  CheckpointTree tree_;
  Subdirectories subdirectories_;
};

}  // namespace

CheckpointTree read_checkpoints(const fs::path& root, Subdirectories subdirectories) {
  return TreeReader(subdirectories).read(HeldDirectory(root));
}

std::string sidecar_name(const std::string& name) {
  return name + std::string(kSidecarEnding);
}

std::int64_t bytes_of(const Checkpoint& checkpoint) {
  return checkpoint.file.bytes + (checkpoint.sidecar ? checkpoint.sidecar->bytes : 0);
}

std::int64_t freed_bytes_of(const Checkpoint& checkpoint) {
  const auto freed = [](const DirectoryEntry& file) { return file.links == 1 ? file.bytes : 0; };
  return freed(checkpoint.file) + (checkpoint.sidecar ? freed(*checkpoint.sidecar) : 0);
}

std::size_t checkpoint_count(const CheckpointTree& tree) {
  std::size_t count = 0;
  for (const CheckpointDirectory& directory : tree.directories)
    count += directory.checkpoints.size();
  return count;
}

std::int64_t checkpoint_bytes(const CheckpointTree& tree) {
  std::int64_t bytes = 0;
  for (const CheckpointDirectory& directory : tree.directories)
    for (const Checkpoint& checkpoint : directory.checkpoints) bytes += bytes_of(checkpoint);
  return bytes;
}

}  // namespace memduel
