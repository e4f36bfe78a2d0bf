// The program's counted mappings as disjoint address ranges; a range may be unmapped in parts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "counters.h"
#include "thread_state.h"

namespace memduel::recorder {

struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

/// Adds [at, at + length), rounded up to pages, to the mapping heap, in the place of what was
/// counted there.
void remember_mapping(void* at, std::size_t length) MEMDUEL_HIDDEN;

/// Takes the counted bytes inside [at, at + length) out of the mapping heap; how many there were.
std::int64_t forget_mapping(void* at, std::size_t length) MEMDUEL_HIDDEN;

/// Looks how much of the large mappings is touched, where [at, at + length) has a part of one and
/// the last look is long enough ago. Tells a trace which pages of small mappings in it are touched.
void look_before_unmapping(void* at, std::size_t length) MEMDUEL_HIDDEN;
/// Looks where much was freed, so that the sum of the moment before is known; more seldom.
void look_at_mappings_on_the_way() MEMDUEL_HIDDEN;
/// From now on no look asks the kernel: the process has, or prepares, a filter of system calls.
void stop_looking() MEMDUEL_HIDDEN;
bool may_ask_kernel() MEMDUEL_HIDDEN;
/// The same as look_before_unmapping at the end of the image.
void look_at_last_mappings() MEMDUEL_HIDDEN;

/// An anonymous mapping without access: it holds no memory until mprotect opens a part of it.
void remember_reservation(void* at, std::size_t length) MEMDUEL_HIDDEN;
/// What of [at, at + length) was reserved is a mapping from now on.
void open_reservation(void* at, std::size_t length) MEMDUEL_HIDDEN;
/// What of [at, at + length) was counted is reserved from now on.
void close_mapping(void* at, std::size_t length) MEMDUEL_HIDDEN;

/// What the allocator maps for its blocks is part of them, and no mapping of the program. Snapshots
/// ask where it is.
void remember_allocator_mapping(void* at, std::size_t length) MEMDUEL_HIDDEN;
void forget_allocator_mapping(void* at, std::size_t length) MEMDUEL_HIDDEN;
void visit_allocator_mappings(void (*visit)(const Range&)) MEMDUEL_HIDDEN;

/// Around fork, so that the child has the ranges whole; `in_child` takes the lock over.
void hold_mappings_for_fork() MEMDUEL_HIDDEN;
void release_mappings_after_fork(bool in_child) MEMDUEL_HIDDEN;
/// Of all counted mappings, while they are held.
MappedBytes held_mapping_bytes() MEMDUEL_HIDDEN;
/// In a forked child, which has a page of its own.
void show_held_mappings() MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
