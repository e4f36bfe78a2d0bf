// What the recorder counted, as metrics: peak_heap_bytes, peak_mapped_bytes,
// peak_heap_and_mapped_bytes, allocated_bytes, allocation_count, live_at_end_bytes, and of rounds
// end_heap_bytes, end_mapped_bytes, end_heap_and_mapped_bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/run_data.h"
#include "trial/trial_trace.h"

namespace memduel {

/// The peak of the largest image where those that ran at the same time, by their own exact peaks,
/// could have added no more than matters: half a percent or 64 KiB. What a fork had inherited is
/// not counted again, and an image that executed another program ran before that one and not beside
/// it. Absent otherwise, and without images.
std::optional<std::int64_t> peak_of_main_image(const std::vector<HeapCounters>& images);

/// Whether heap and mapped memory of the role is sampled: it had mappings of
/// recorder::kSparseBytes or more, or processes without the recorder.
bool touches_are_sampled(const RoleTrace& trace);

/// Adds a role's counters to its trial, rounds and phases. The peak of one image, or of one beside
/// which the others do not matter, is exact; of several it is the largest sampled sum of their live
/// bytes, and no less than the largest of them had. live_at_end_bytes sums what each process held
/// when it ended: what an image held when it executed another program is gone with it.
void add_heap(RoleData& data, const RoleTrace& trace);

/// Adds what all roles had at once to `tree`; nothing when one of the roles has no counters.
void add_tree_heap(RoleData& tree, const TrialTrace& trace, const std::vector<RoleData>& roles);

}  // namespace memduel
