// smallest_detectable and blocks_needed of a decided row.
#pragma once

#include "analysis/verdicts/comparison.h"

namespace memduel {

/// `family` is the number of rows that share the level. Exact rows detect any change; rows with
/// fewer than five blocks and rows with failed candidates get no number.
void add_power(MeasuredRow& row, Design design, double alpha, int family, unsigned long seed);

}  // namespace memduel
