// How a verdict came about, in plain words with the numbers.
#pragma once

#include <string>
#include <string_view>

#include "analysis/values/results.h"

namespace memduel {

/// All candidates' rows of ROLE.METRIC. Throws Error(usage) that names the nearest row when there
/// is none.
std::string explain(const Results& results, std::string_view role_metric);

/// ROLE.METRIC of the row that a reader asks about first: of those that gates ask about the worst,
/// by verdict, then by how much it is above its margin. Throws Error(usage) without any.
std::string worst_row(const Results& results);

}  // namespace memduel
