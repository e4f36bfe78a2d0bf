// The snapshots of valgrind's massif.
//
// Text: lines "key=value" per snapshot, and for detailed ones a tree of callers, one line a node:
// as many spaces as it is deep, "n" and how many nodes are below it, bytes, and a place
// (https://valgrind.org/docs/manual/ms-manual.html).
#pragma once

#include <string_view>

#include "profilers/profile/model/profile.h"
#include "profilers/profile/names/symbolize.h"

namespace memduel {

class PlainSource;

bool is_massif(std::string_view head);

/// Every snapshot as a moment; the peak; live, where the last snapshot is a detailed one. Requested
/// bytes without counts of blocks. Massif has found the names itself.
Profile read_massif(PlainSource& source, const SymbolOptions& symbols);

}  // namespace memduel
