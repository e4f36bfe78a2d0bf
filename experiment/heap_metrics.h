// What the recorder counted, as metrics: peak_heap_bytes, allocated_bytes, allocation_count,
// live_at_end_bytes, and of rounds end_heap_bytes.
#pragma once

#include <vector>

#include "base/run_data.h"
#include "experiment/trial_trace.h"

namespace memduel {

/// Adds a role's counters to its trial, rounds and phases. The peak of several images is the
/// largest sampled sum of their live bytes, and no less than the largest of them had; of one image
/// it is exact. live_at_end_bytes sums what each image held when it ended.
void add_heap(RoleData& data, const RoleTrace& trace);

/// Adds all roles' counters to `tree`; nothing when one of the roles has none.
void add_tree_heap(RoleData& tree, const TrialTrace& trace, const std::vector<RoleData>& roles);

}  // namespace memduel
