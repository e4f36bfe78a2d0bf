// What `memduel checkpoints` prints: names as a terminal shows them.
#pragma once

#include <string>

#include "training/prune.h"

namespace memduel {

/// The directory, the rules in words, a line per checkpoint that would go, what that would free,
/// what stays.
std::string describe_plan(const PrunePlan& plan);

/// The same for what was done.
std::string describe_pruned(const PrunePlan& plan, const Pruned& pruned);

/// The directory, how many, how large, the oldest and the newest, and of each metric its highest
/// and lowest.
std::string describe_tree(const CheckpointTree& tree, std::int64_t now_ns);

}  // namespace memduel
