// Which comparisons are told first, and which of them say the same as another.
#pragma once

#include <vector>

#include "analysis/results.h"

namespace memduel {

/// Whether the whole job's row of this metric says the same: where a role is the whole job, each of
/// its numbers is there twice. A gate row never repeats one that is none.
bool repeats_the_job(const Comparison& row, const std::vector<Comparison>& rows);

/// An exact counter that changed and that no gate asks about.
bool is_exact_change(const Comparison& row);

}  // namespace memduel
