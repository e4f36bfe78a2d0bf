// The names of the rows of the results table, short enough for a terminal of 80 columns.
#pragma once

#include <string>

#include "result_rows.h"

namespace memduel {

/// "server peak RSS", below it "↳ above start-up", "wall time": without the role of the only time,
/// and without what the row above states.
std::string row_label(const JobFacts& job, const ResultRow& row, const ResultRows& shown);

}  // namespace memduel
