// heaptrack's traces, raw (`heaptrack --raw`) and interpreted, without heaptrack_print.
//
// A line is a letter and hexadecimal numbers; src/util/linewriter.h and src/interpret of
// https://invent.kde.org/sdk/heaptrack write them. File versions 1 to 3 are read.
#pragma once

#include <string_view>

#include "profilers/profile/model/profile.h"
#include "profilers/profile/names/symbolize.h"

namespace memduel {

class PlainSource;

bool is_heaptrack(std::string_view head);

/// Peak, live at the end (heaptrack's leaks, before suppressions), allocated and temporary, as
/// heaptrack counts them: temporary is what the very next event freed. Requested bytes.
Profile read_heaptrack(PlainSource& source, const SymbolOptions& symbols);

}  // namespace memduel
