// When the process takes a snapshot of its resident memory.
//
// A maximum of resident memory ends with a free or an unmapping, so that the process looks just
// before these how much is resident. Nothing is stopped from outside: the thread that looks reads
// its own process, and threads that allocate wait for it.
#pragma once

#include <cstdint>

#include "counters.h"
#include "thread_state.h"

namespace memduel::recorder {

/// From kSnapshotVariable.
void read_snapshot_rule() MEMDUEL_HIDDEN;

enum class Snapshots : unsigned char { unknown, none, some };
extern Snapshots snapshots MEMDUEL_HIDDEN;
inline bool takes_snapshots() {
  return snapshots == Snapshots::some;
}
/// Every block goes through the trace, with its stack.
inline bool records_all() {
  return settings.mode == Mode::exact || takes_snapshots();
}
/// Allocators map their first memory before the rule is read.
inline bool may_take_snapshots() {
  return snapshots != Snapshots::none;
}

/// What follows is for threads that are marked as inside the recorder (Busy).

/// Below this a free of its own cannot end a maximum that anybody would look for.
inline constexpr std::int64_t kLargeLoss = 64 * 1024;

/// Before `bytes` are freed or unmapped.
void look_before_loss(std::int64_t bytes) MEMDUEL_HIDDEN;
/// On the slow path of allocations and frees.
void look_on_the_way(bool loses) MEMDUEL_HIDDEN;
/// After a mark was told.
void look_at_mark(int kind, int round, const char* phase) MEMDUEL_HIDDEN;
/// Before the image ends: also tells what was seen.
void look_at_end() MEMDUEL_HIDDEN;
/// In a forked child, whose peak is another.
void restart_snapshots() MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
