// The numbers of one row: a metric of a role in two arms.
#pragma once

#include <string>
#include <vector>

#include "analysis/growth/observations.h"
#include "analysis/statistics/shift_test.h"
#include "analysis/values/placed_values.h"
#include "analysis/verdicts/run_order.h"
#include "base/metric_catalogue.h"

namespace memduel {

/// Blocks in which the baseline failed are left out; a candidate that failed where the baseline
/// lived is an infinity on the bad side, so that it is worse than any value and never dropped.
struct RowValues {
  std::vector<double> baseline;
  std::vector<double> candidate;  ///< candidate[i] ran in baseline[i]'s block when paired
  PlacedValues placed;            ///< both arms' values; empty unless the design has places
  int candidate_failed = 0;
  int candidate_killed_for_memory = 0;  ///< among candidate_failed
  int baseline_failed = 0;
  int incomplete = 0;   ///< blocks in which a living trial had no value for this metric
  std::string failure;  ///< of the first failed candidate
};

/// @param order of a restricted design; null where its superblocks stand by themselves.
RowValues row_values(const ArmObservations& baseline, const ArmObservations& candidate,
                     const std::string& role, const MetricInfo& metric, Design design,
                     const RunOrder* order = nullptr);

}  // namespace memduel
