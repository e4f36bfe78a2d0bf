// The pages of a snapshot and their owners as amounts by stack, in a profile.
#pragma once

#include <vector>

#include "profilers/profile/decode/live_heap.h"
#include "profilers/profile/decode/page_owners.h"
#include "profilers/profile/model/profile.h"

namespace memduel {

/// Births by site of the ranges that were live.
struct SnapshotBirths {
  std::vector<Birth> blocks;
  std::vector<Birth> mappings;
};

/// Fills profile.resident. Adds a node for each owner at the root, below it the stacks of what it
/// owns, and sites for these. A stack whose subtree owns less than kLeastShare of the program's
/// resident memory, or less than a page, is told as its caller's: a program has hundreds of
/// thousands of small blocks from its start, each with a stack of its own.
void add_snapshot(Profile& profile, const ResidentPages& pages, const PageOwners& owners,
                  const SnapshotBirths& births);

inline constexpr double kLeastShare = 1.0 / 20000;

/// Takes out what no site needs: nodes of blocks that were told as their callers'.
void drop_unused_stacks(Profile& profile);

}  // namespace memduel
