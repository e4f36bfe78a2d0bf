// What a trial's roles said about memory that ran short, as warnings of the run.
#pragma once

#include <vector>

#include "base/run_data.h"

namespace memduel {

/// One warning for each role and level, naming the rounds, from the gauges of
/// base/memory_warning.h. Takes them out of the roles' own metrics, where they would be compared;
/// the rounds keep them.
std::vector<Note> take_memory_warnings(TrialData& trial);

}  // namespace memduel
