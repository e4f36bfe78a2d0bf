// The JSON that memray writes: `memray transform gprof2dot` and `memray stats --json`
// (https://github.com/bloomberg/memray, src/memray/reporters/transform.py and stats.py).
#pragma once

#include <string_view>

#include "profilers/profile/model/profile.h"
#include "profilers/profile/names/symbolize.h"

namespace memduel {

class PlainSource;

bool is_memray_gprof2dot(std::string_view head);
/// The peak by stack (with `--leaks` what leaked, which the file does not say): functions and files
/// without lines, bytes without counts of blocks.
Profile read_memray_gprof2dot(PlainSource& source, const SymbolOptions& symbols);

bool is_memray_stats(std::string_view head);
/// What the largest places allocated, one frame each, and all others together.
Profile read_memray_stats(PlainSource& source, const SymbolOptions& symbols);

}  // namespace memduel
