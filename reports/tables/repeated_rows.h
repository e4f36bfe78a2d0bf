// Which comparisons say the same as another.
#pragma once

#include <vector>

#include "analysis/values/results.h"

namespace memduel {

/// Whether the whole job's row of this metric says the same: where a role is the whole job, each of
/// its numbers is there twice. A gate row never repeats one that is none.
bool repeats_the_job(const Comparison& row, const std::vector<Comparison>& rows);

}  // namespace memduel
