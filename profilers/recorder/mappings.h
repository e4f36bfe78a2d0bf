// The program's counted mappings as disjoint address ranges; a range may be unmapped in parts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profilers/recorder/thread_state.h"

namespace memduel::recorder {

/// Adds [at, at + length), rounded up to pages, to the mapping heap.
void remember_mapping(void* at, std::size_t length) MEMDUEL_HIDDEN;

/// Takes the counted bytes inside [at, at + length) out of the mapping heap; how many there were.
std::int64_t forget_mapping(void* at, std::size_t length) MEMDUEL_HIDDEN;

/// Around fork; `in_child` takes the lock over.
void hold_mappings_for_fork() MEMDUEL_HIDDEN;
void release_mappings_after_fork(bool in_child) MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
