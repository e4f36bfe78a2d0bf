// The CPU profiles of gperftools (CPUPROFILE): where a program spends its time, by samples.
//
// Words of 64 bits: 0, 3, 0, period in microseconds, 0; then per stack its samples, its length and
// its addresses; 0, 1, 0; then the text of /proc/PID/maps.
#pragma once

#include <string_view>

#include "profilers/profile/model/profile.h"
#include "profilers/profile/names/symbolize.h"

namespace memduel {

class PlainSource;

bool is_gperftools_cpu(std::string_view head);

/// Nanoseconds by stack, in `allocated`; each sample stands for one period.
Profile read_gperftools_cpu(PlainSource& source, const SymbolOptions& symbols);

}  // namespace memduel
