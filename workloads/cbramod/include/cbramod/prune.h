// Removes checkpoints that no rule keeps (retention.h), in every directory for itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "training/checkpoint_tree.h"
#include "training/retention.h"

namespace memduel {

struct Removal {
  std::filesystem::path below;  ///< its directory, relative to the root
  Checkpoint checkpoint;
};

struct PrunePlan {
  CheckpointTree tree;
  RetentionRules rules;
  std::int64_t now_ns = 0;
  std::vector<Removal> removals;
};

/// Nothing is changed. Throws Error(io) as read_checkpoints() does, and where this process may not
/// remove what would have to go; Error(usage) when there are checkpoints and none has the metric,
/// or files with a checkpoint's ending and none is one.
PrunePlan plan_prune(const std::filesystem::path& root, const RetentionRules& rules,
                     std::int64_t now_ns, Subdirectories subdirectories = Subdirectories::enter);

struct Pruned {
  std::vector<Removal> removed;
  std::vector<std::string> failures;  ///< what should have gone and did not, with the reason
};

/// A checkpoint stays that changed since the plan was made, or whose sidecar did.
Pruned carry_out(const PrunePlan& plan);

std::int64_t removed_bytes(const std::vector<Removal>& removals);
/// Of them those of files that have no other name.
std::int64_t freed_bytes(const std::vector<Removal>& removals);

/// Now, in nanoseconds since 1970.
std::int64_t wall_clock_ns();

/// Writes `directory`/`name` so that it is there whole or not at all, then prunes the directory. It
/// is made where it is missing. Throws Error(io); Error(usage) as plan_prune() does.
Pruned save_checkpoint(const std::filesystem::path& directory, const std::string& name,
                       std::string_view bytes, const RetentionRules& rules);

}  // namespace memduel
