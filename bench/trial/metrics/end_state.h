// What a role without rounds holds when its work is done: the end of its only round has no mark at
// which anybody reads it, so samples tell it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/run_data.h"
#include "experiment/contract/trial_trace.h"

namespace memduel {

/// The level that `metric` had last for 100 ms: the last sample of three or more over that time
/// that differ by no more than the metric's margin, at most 200 ms before `end_ns`, because a
/// program may free its memory piece by piece before it exits. Absent where there is none.
std::optional<double> level_before(std::int64_t end_ns, const Series& series,
                                   const std::string& metric);

/// Resident bytes at the end of the round that began at `begin_ns` and that `mark` ends: those read
/// at the mark. A line that begins the next round is read when the program may have gone on. If the
/// samples before it were level for 100 ms, the program was idle, and that level is the round's
/// end. Absent where neither is known.
std::optional<double> rss_at_end(std::int64_t begin_ns, const MarkEvent& mark, const Series& rss);

/// end_rss_bytes, end_heap_bytes, end_mapped_bytes and end_heap_and_mapped_bytes of a role that
/// marks no rounds; nothing to others.
void add_end_state(RoleData& data, const RoleTrace& trace);

/// The same of all processes together, where none of them marks rounds.
void add_tree_end_state(RoleData& tree, const TrialTrace& trace);

}  // namespace memduel
