// How many blocks and minutes a duel needs to find a change of a given size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/verdicts/analyse.h"

namespace memduel {

struct PlannedRow {
  RoleMetric row;
  std::optional<int> blocks;  ///< absent beyond 1,000 or when the row gives no answer
  std::string reason;         ///< why there is no number; empty otherwise
};

struct DuelPlan {
  double change = 0;                    ///< the share to detect
  std::vector<PlannedRow> rows;         ///< the gate rows
  std::optional<int> blocks;            ///< for all rows that have a number
  std::optional<double> block_seconds;  ///< typical, all arms of a block together
};

/// From the noise of a run (an earlier one, or a short probe of two arms) with five blocks or more:
/// `change` is a share, 0.02 for 2 %; found with 80 % probability in every gate row.
DuelPlan plan_duel(const RunData& run, const AnalysisSettings& settings, double change);

/// From a calibration alone: the blocks by the square-root law, each block of `arms` trials.
DuelPlan plan_duel(const Calibration& calibration, const std::vector<Gate>& gates, double change,
                   int arms);

/// "12 blocks, about 14 min 30 s: 2 % in server.peak_rss_bytes needs 8, …"
std::string describe_plan(const DuelPlan& plan);

}  // namespace memduel
