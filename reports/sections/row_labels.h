// The names of the rows of the results table, short enough for a terminal of 80 columns.
#pragma once

#include <string>

#include "result_rows.h"

namespace memduel {

/// "server peak RSS", "wall time": without the role of the only time.
std::string row_label(const JobFacts& job, const ResultRow& row, const ResultRows& shown);

}  // namespace memduel
