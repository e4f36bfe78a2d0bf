// Walking the native stack by the unwind tables, inside somebody else's allocation: no locks, no
// allocation, every read inside the thread's stack. A library such as libunwind takes locks and
// asks the dynamic linker for its list, which deadlocks in a preload (dlopen in another thread),
// and has no stack address per frame, which placing Python frames needs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "thread_state.h"

namespace memduel::recorder {

/// Where a walk starts.
struct Registers {
  std::uintptr_t ip;
  std::uintptr_t sp;
  std::uintptr_t bp;
  bool exact_ip;  ///< ip is the interrupted instruction, not a return address
};

/// The registers of the caller of the function whose __builtin_frame_address(0) is `frame`. To be
/// asked for inside that function.
[[gnu::always_inline]] inline Registers registers_of_caller(const void* frame) {
  const auto* words = static_cast<const std::uintptr_t*>(frame);
  return {words[1], reinterpret_cast<std::uintptr_t>(words + 2), words[0], false};
}

/// A frame, and what of its registers the way to its caller depends on.
struct NativeFrame {
  std::uintptr_t ip;   ///< address inside the calling instruction
  std::uintptr_t cfa;  ///< stack address just above the frame
  std::uintptr_t sp;
  std::uintptr_t bp;
  std::uintptr_t saved_bp;  ///< where the caller's rbp lies; 0: it is still in the register
  enum Way : std::uint8_t {
    by_stack,  ///< the return address below the cfa and saved_bp say it all
    nowhere,   ///< there is no caller, whatever the stack holds
    by_rule,   ///< anything else: to be found again each time
  } way;
};

/// The frames of a stack, outermost first. Walked into again, it keeps the frames that are still
/// the same, which it knows from reading again what they were found by.
struct NativeStack {
  static constexpr int kMostFrames = 512;
  NativeFrame frames[kMostFrames];
  int count;
  int kept;  ///< how many of the outermost frames the last walk found unchanged
  std::uint64_t era;
  NativeFrame fresh[kMostFrames];  ///< during a walk: what is new, innermost first
};

/// Fills `stack` with the calling thread's frames without the recorder's own; ends early at code
/// without unwind tables, and leaves out the outermost of more than kMostFrames.
void walk_stack(NativeStack& stack) MEMDUEL_HIDDEN;
void walk_stack(NativeStack& stack, const Registers& from) MEMDUEL_HIDDEN;

/// Whether the calling thread's stack holds an address behind `begin` and before `end`: of a
/// function that never returns this says that it was called, even below code without unwind tables.
/// Always false on a stack that is not the thread's own.
bool has_on_stack(std::uintptr_t begin, std::uintptr_t end) MEMDUEL_HIDDEN;

/// After a library was closed: what is cached about addresses may be wrong.
void forget_unwind_rules() MEMDUEL_HIDDEN;

/// In a forked child: another thread may have been looking for a rule.
void restart_unwinding_after_fork() MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
