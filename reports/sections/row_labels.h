// The names of the rows of the results table: short, with what they leave out in a note below it.
#pragma once

#include <string>

#include "result_rows.h"

namespace memduel {

/// "server peak RSS", "wall time": without "above start-up" and without the role of the only time,
/// which label_note() states.
std::string row_label(const JobFacts& job, const ResultRow& row, const ResultRows& shown);

/// "RSS is counted above start-up, which takes 168.6 MiB (server) and 169.9 MiB (largest client).";
/// empty where no label leaves that out.
std::string label_note(const Results& results, const ResultRows& shown);

}  // namespace memduel
