// Counting an allocation or a free: a few instructions, and now and then a visit to the slow path.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/layout.h"
#include "stacks/unwind.h"
#include "thread_state.h"

namespace memduel::recorder {

/// Slow path of an allocation that is already counted: publishes, and samples where it is due.
/// Returns `block`, so that the entry points can end in a jump.
void* visit_allocation(void* block, std::size_t requested, std::int64_t bytes) MEMDUEL_HIDDEN;
/// Slow path of a free that is already counted, before the block goes back.
void visit_free() MEMDUEL_HIDDEN;
/// The thread's next allocation takes the slow path, whatever its size.
void visit_next_allocation() MEMDUEL_HIDDEN;

/// Exact mode: tells the trace of an allocation that is already counted, with the stack of
/// `caller`. Returns `block`.
void* note_birth(void* block, std::size_t requested, std::int64_t bytes,
                 const Registers& caller) MEMDUEL_HIDDEN;
/// Tells the trace, before the block goes back, because another thread may then get its address.
/// False: the trace does not know the block.
bool note_death(void* block) MEMDUEL_HIDDEN;
/// The block whose death was noted lives on: realloc failed.
void note_revival(void* block) MEMDUEL_HIDDEN;

#if defined(__x86_64__)
/// Subtracts in memory and tells whether the result is negative. One instruction, which a signal
/// handler that allocates cannot come between; the compiler would make it four.
[[gnu::always_inline]] inline bool falls_below_zero(std::int64_t& counter, std::int64_t amount) {
  bool negative;
  asm("subq %2, %1" : "=@ccs"(negative), "+m"(counter) : "r"(amount));
  return negative;
}
#else
[[gnu::always_inline]] inline bool falls_below_zero(std::int64_t& counter, std::int64_t amount) {
  counter -= amount;
  return counter < 0;
}
#endif

/// The thread's change exceeds its highest so far. A program that only grows comes here each time.
[[gnu::always_inline]] inline void note_new_high() {
  const std::int64_t high = tls.high - tls.room;
  tls.high = high;
  tls.room = 0;
}

/// `left` is used up; `room` is not told yet, which the visit reads as well.
[[gnu::always_inline]] inline void* account_due(void* block, std::size_t requested,
                                                std::int64_t bytes) {
  tls.room -= bytes;
  return visit_allocation(block, requested, bytes);
}

/// `room` is used up.
[[gnu::always_inline]] inline void* account_high(void* block, std::size_t requested,
                                                 std::int64_t bytes) {
  note_new_high();
  if (tls.high >= tls.publish_at) return visit_allocation(block, requested, bytes);
  return block;
}

[[gnu::always_inline]] inline void* account_allocation(void* block, std::size_t requested,
                                                       std::int64_t bytes) {
  ++tls.allocations;
  if (__builtin_expect(falls_below_zero(tls.left, static_cast<std::int64_t>(requested)), 0)) {
    return account_due(block, requested, bytes);
  }
  if (__builtin_expect(falls_below_zero(tls.room, bytes), 0)) {
    return account_high(block, requested, bytes);
  }
  return block;
}

/// In exact mode, from a function whose __builtin_frame_address(0) is `frame`.
[[gnu::always_inline]] inline void* account_exactly(void* block, std::size_t requested,
                                                    std::int64_t bytes, const void* frame) {
  account_allocation(block, requested, bytes);
  return note_birth(block, requested, bytes, registers_of_caller(frame));
}

[[gnu::always_inline]] inline void account_free(std::int64_t bytes) {
  tls.room += bytes;
  if (__builtin_expect(falls_below_zero(tls.free_left, bytes), 0)) visit_free();
}

}  // namespace memduel::recorder
