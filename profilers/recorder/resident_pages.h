// What a snapshot writes of the process: its mappings, their resident pages, and whose they can be.
#pragma once

#include "profilers/recorder/thread_state.h"

namespace memduel::recorder {

/// Under the trace's lock: writes the blocks of a snapshot. False, and nothing written: the kernel
/// does not show the process to itself (no /proc, or not dumpable).
bool write_resident_pages() MEMDUEL_HIDDEN;

/// Of what own_memory gave; some 50 microseconds.
std::uint64_t own_resident_bytes() MEMDUEL_HIDDEN;

/// Resident bytes, from /proc/self/statm: some 64 pages per processor off. 0: not known.
std::uint64_t resident_bytes() MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
