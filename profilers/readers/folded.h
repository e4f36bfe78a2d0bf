// Folded stacks, one a line: frames from the outermost, between semicolons, and a number
// (flamegraph.pl, `heaptrack_print -F`, perf's stackcollapse, memduel export --format folded).
#pragma once

#include <string_view>

#include "profilers/profile/model/profile.h"
#include "profilers/profile/names/symbolize.h"

namespace memduel {

class PlainSource;

/// Its first line must be one.
bool is_folded(std::string_view head);

/// The format does not say what it counts: bytes, in `allocated`.
Profile read_folded(PlainSource& source, const SymbolOptions& symbols);

}  // namespace memduel
