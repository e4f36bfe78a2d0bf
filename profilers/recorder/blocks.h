// Tables of blocks by address: the sampled ones, with a filter that every free reads, and for
// snapshots every live block with its stack.
#pragma once

#include <cstddef>
#include <cstdint>

#include "thread_state.h"

namespace memduel::recorder {

/// One byte per KiB of the low 4 GiB of the address: how many samples may lie there. The entry of
/// the null pointer is never 0, so that free(nullptr) takes the slow path without a test of its
/// own.
inline constexpr std::size_t kFilterBytes = std::size_t{1} << 22;
extern std::uint8_t* filter MEMDUEL_HIDDEN;

inline std::size_t filter_index(const void* block) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(block)) >> 10;
}

/// One comparison with memory, which the compiler would make a load and a test.
[[gnu::always_inline]] inline bool may_be_sample(const void* block) {
#if defined(__x86_64__)
  bool zero;
  asm("cmpb $0, %1" : "=@ccz"(zero) : "m"(filter[filter_index(block)]));
  return !zero;
#else
  return __atomic_load_n(filter + filter_index(block), __ATOMIC_RELAXED) != 0;
#endif
}

/// Reserves the filter. False: no memory.
bool make_filter() MEMDUEL_HIDDEN;

/// Under the trace's lock. False: no memory, or already there (its free was not seen).
bool insert_block(void* block) MEMDUEL_HIDDEN;
/// Under the trace's lock. False: not a sample.
bool erase_block(void* block) MEMDUEL_HIDDEN;
/// In a forked child, whose trace knows no samples.
void forget_blocks() MEMDUEL_HIDDEN;

/// False: no memory, or already there (its free was not seen).
bool insert_live(const LiveRecord& record) MEMDUEL_HIDDEN;
/// False: not known.
bool erase_live(const void* block, LiveRecord& erased) MEMDUEL_HIDDEN;
void visit_live(void (*visit)(const LiveRecord&)) MEMDUEL_HIDDEN;
/// In a forked child, whose trace has other nodes.
void forget_live() MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
