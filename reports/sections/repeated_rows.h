// A job of one role has its numbers twice: those of the role and those of all processes.
#pragma once

#include "verdict/results.h"

namespace memduel {

/// Whether another row has the same numbers and is the one to show. Of the two that is the row of
/// all processes, unless a gate asks about the role's row alone.
bool is_repeated(const Results& results, const Comparison& row);
bool is_repeated(const Results& results, const Growth& row);

}  // namespace memduel
