// The heap profiles of gperftools: dumps of HEAPPROFILE, which count every block, and samples of
// tcmalloc (MallocExtension::GetHeapSample).
//
// gperftools up to 2.15 builds a dump in 1 MiB and leaves out the stacks for which there is no room
// without a word; only the totals in the first line tell. What is missing becomes a stack of its
// own, so that totals are right.
#pragma once

#include <string_view>

#include "profilers/profile/model/profile.h"
#include "profilers/profile/names/symbolize.h"

namespace memduel {

class PlainSource;

bool is_gperftools_heap(std::string_view head);

/// Live at the dump, and allocated where the dump has it. Requested bytes; samples are unbiased.
Profile read_gperftools_heap(PlainSource& source, const SymbolOptions& symbols);

}  // namespace memduel
