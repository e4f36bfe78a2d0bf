// The heap profiles of jemalloc (heap_v2, since 4.0): samples of the allocator's own profiler.
#pragma once

#include <string_view>

#include "profilers/profile/model/profile.h"
#include "profilers/profile/names/symbolize.h"

namespace memduel {

class PlainSource;

bool is_jemalloc_heap(std::string_view head);

/// Live at the dump, and allocated where the program ran with prof_accum. Unbiased as jeprof does
/// it. Bytes of size classes, which are larger than what was asked for.
Profile read_jemalloc_heap(PlainSource& source, const SymbolOptions& symbols);

}  // namespace memduel
