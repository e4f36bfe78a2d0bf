// Every live block with its stack, for snapshots of a run whose events are samples. All functions
// under the trace's lock.
#pragma once

#include <cstdint>

#include "profilers/recorder/thread_state.h"

namespace memduel::recorder {

/// False: no memory, or already there (its free was not seen).
bool insert_live(const LiveRecord& record) MEMDUEL_HIDDEN;
/// False: not known.
bool erase_live(const void* block, LiveRecord& erased) MEMDUEL_HIDDEN;
void visit_live(void (*visit)(const LiveRecord&)) MEMDUEL_HIDDEN;
/// In a forked child, whose trace has other nodes.
void forget_live() MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
