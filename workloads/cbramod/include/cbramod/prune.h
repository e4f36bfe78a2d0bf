// Which of a directory's checkpoints stay, the metrics whose best value is known to be the
// highest, how the others are removed, and what `memduel checkpoints` prints (names as a terminal
// shows them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cbramod/checkpoint_tree.h"

namespace memduel {

enum class Better { highest, lowest };

/// by_age: the newest `keep_best` stay and nothing else, as CBraMod's code has it.
enum class Ranking { by_metric, by_age };

struct RetentionRules {
  std::string metric = "kappa";
  Better better = Better::highest;
  std::size_t keep_best = 5;  ///< at least 1
  double older_than_days = 7;
  Ranking ranking = Ranking::by_metric;
};

/// Indices of the checkpoints that no rule keeps, in their order. Kept are, of those that have the
/// metric: the best `keep_best`, the newest, and all that are not older than the limit. A value
/// that is not finite is worse than all that are; of equal values the newer checkpoint is better,
/// of equally new ones that of the later epoch, then that whose name comes later. A checkpoint
/// without the metric is always kept. Times are nanoseconds since 1970.
std::vector<std::size_t> superfluous_checkpoints(const std::vector<Checkpoint>& checkpoints,
                                                 const RetentionRules& rules, std::int64_t now_ns);

/// Age in days; negative for a time that is still to come.
double age_in_days(const Checkpoint& checkpoint, std::int64_t now_ns);

/// By the words of the name, in whatever case: at least one is a score (kappa, acc, f1, …) and the
/// others only say of what (val, macro, top5, …). One unknown word, as in brier_score, and nothing
/// is known: what is taken for a score wrongly would cost the best checkpoint.
bool is_known_score(std::string_view metric);

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

/// The directory, the rules in words, a line per checkpoint that would go, what that would free,
/// what stays.
std::string describe_plan(const PrunePlan& plan);

/// The same for what was done.
std::string describe_pruned(const PrunePlan& plan, const Pruned& pruned);

/// The directory, how many, how large, the oldest and the newest, and of each metric its highest
/// and lowest.
std::string describe_tree(const CheckpointTree& tree, std::int64_t now_ns);

}  // namespace memduel
