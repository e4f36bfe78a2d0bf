// What a snapshot writes of the process: its mappings, their resident pages, and whose they can be.
#pragma once

#include "thread_state.h"

namespace memduel::recorder {

/// Under the trace's lock: writes the blocks of a snapshot. False, and nothing written: the kernel
/// does not show the process to itself (no /proc, or not dumpable).
bool write_resident_pages() MEMDUEL_HIDDEN;

/// In a child, right after the fork: writes which pages of its private memory the parent had. No
/// file is written to where the kernel does not show them.
void write_fork_pages() MEMDUEL_HIDDEN;

/// In a child that another thread than the first forked: it runs on that thread's stack.
void note_mapped_first_stack() MEMDUEL_HIDDEN;

/// Of what own_memory gave; some 50 microseconds.
std::uint64_t own_resident_bytes() MEMDUEL_HIDDEN;

/// Most resident bytes so far, VmHWM. 0: not known.
std::uint64_t peak_resident_bytes() MEMDUEL_HIDDEN;

/// Resident bytes, from /proc/self/statm: some 64 pages per processor off. 0: not known.
std::uint64_t resident_bytes() MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
