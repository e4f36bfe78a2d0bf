// speedscope's JSON with sampled profiles, as memduel export and memray write it
// (https://www.speedscope.app/file-format-schema.json).
#pragma once

#include <string_view>

#include "profilers/profile/model/profile.h"
#include "profilers/profile/names/symbolize.h"

namespace memduel {

class PlainSource;

bool is_speedscope(std::string_view head);

/// The first profile with a unit of bytes or time, else the first; of memray, whose first profile
/// has bytes and whose second has the counts of the same stacks, the peak.
Profile read_speedscope(PlainSource& source, const SymbolOptions& symbols);

}  // namespace memduel
