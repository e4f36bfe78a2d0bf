// Whether the peaks of two arms lie in the same phase: what lives at peaks of different phases
// differs for that reason alone.
#pragma once

#include <vector>

#include "analysis/values/results.h"
#include "base/run_data.h"

namespace memduel {

/// A limitation `peak_moved` for every role of `totals` whose resident set is largest in one phase
/// with the baseline and in another with the candidate, by more than a fiftieth in both; the median
/// over the measured trials counts. Nothing about roles without phases.
std::vector<Note> moved_peaks(const RunData& run, const std::string& baseline,
                              const std::vector<DifferenceTotal>& totals);

}  // namespace memduel
