// Which pages of the own process are in memory, from /proc/self/pagemap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "thread_state.h"

namespace memduel::recorder {

inline constexpr std::uintptr_t kPageBytes = 4096;

/// A run of resident pages: first page (its address / 4096) and how many; whether they are a file's
/// or shared memory's, so that a private copy of a file's page is not.
using VisitPages = void (*)(std::uintptr_t first, std::uintptr_t pages, bool file);

/// Calls `visit` for the resident runs in [begin, end), by address. `descriptor` is of
/// /proc/self/pagemap. Pages that were only read show the kernel's page of zeros and are not
/// resident. False: the kernel cannot tell those apart (before 6.7), so that they are visited too.
bool scan_pages(long descriptor, std::uintptr_t begin, std::uintptr_t end,
                VisitPages visit) MEMDUEL_HIDDEN;

/// The same by the form that every kernel has, which always visits pages of zeros.
void scan_page_entries(long descriptor, std::uintptr_t begin, std::uintptr_t end,
                       VisitPages visit) MEMDUEL_HIDDEN;

/// Whether the page at an address is in memory or swapped.
bool was_touched(long descriptor, std::uintptr_t at) MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
