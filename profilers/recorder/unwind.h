// Walking the native stack by the unwind tables, inside somebody else's allocation: no locks, no
// allocation, every read inside the thread's stack. A library such as libunwind takes locks and
// asks the dynamic linker for its list, which deadlocks in a preload (dlopen in another thread),
// and has no stack address per frame, which placing Python frames needs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profilers/recorder/thread_state.h"

namespace memduel::recorder {

struct NativeFrame {
  std::uintptr_t ip;   ///< address inside the calling instruction
  std::uintptr_t cfa;  ///< stack address just above the frame
};

/// The calling thread's frames, innermost first and without the recorder's own; how many. Stops
/// early at code without unwind tables or at `capacity`.
int unwind_stack(NativeFrame* frames, int capacity) MEMDUEL_HIDDEN;

/// After a library was closed: what is cached about addresses may be wrong.
void forget_unwind_rules() MEMDUEL_HIDDEN;

/// In a forked child: another thread may have been looking for a rule.
void restart_unwinding_after_fork() MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
