// Which rows the first screen shows, in which order, and why each. Every report prints this list.
#pragma once

#include <vector>

#include "analysis/values/results.h"

namespace memduel {

/// The rows that gates ask about, those that failed first, then what became worse, then the best
/// candidate's; of one candidate those that changed by most bytes first. Behind them, whatever its
/// metric, the memory of each candidate that changed most and that no row before tells. Without
/// memory that changed, the counters that did; without gates, whatever did. Reads finished rows;
/// the causes are left empty.
std::vector<ShownRow> rows_to_show(const Results& results);

/// Candidate minus baseline, of the medians, in the metric's unit; absent where one is missing.
std::optional<double> change_of_medians(const Comparison& row);

/// Whether growth is worth a sentence of its own: it goes on, by no less than the margin of its row
/// and not by little against what grows most in this run.
bool is_notable_growth(const Results& results, const Growth& growth);

}  // namespace memduel
