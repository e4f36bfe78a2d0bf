// How many blocks and minutes a duel needs to find a change of a given size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/verdicts/analyse.h"

namespace memduel {

/// A number of blocks with its 95 % interval: that of a variance, by chi-square, if the noise is
/// normal. It is wide: with five probed blocks its ends differ by a factor of eight.
struct PlannedBlocks {
  int blocks = 0;
  int low = 0;
  std::optional<int> high;  ///< absent beyond kMostPlannedBlocks
};

constexpr int kMostPlannedBlocks = 1000;

struct PlannedRow {
  RoleMetric row;
  std::optional<PlannedBlocks> blocks;  ///< absent beyond the most, or when nothing can be said
  std::string reason;                   ///< why there is no number; empty otherwise
};

struct DuelPlan {
  double change = 0;                    ///< the share to detect
  int probed_blocks = 0;                ///< that the noise comes from
  std::vector<PlannedRow> rows;         ///< the gate rows
  std::optional<PlannedBlocks> blocks;  ///< for all rows that have a number
  std::optional<double> block_seconds;  ///< typical, all arms of a block together

  /// Whether the ends of the interval differ by more than a factor of four because few blocks were
  /// probed.
  [[nodiscard]] bool is_from_too_few() const;
};

/// Returns the fewest probed blocks with which the ends differ by a factor of four or less.
int blocks_to_plan_from();

/// From the noise of a run (an earlier one, or a short probe of two arms) with five blocks or more:
/// `change` is a share, 0.02 for 2 %; found with 80 % probability in every gate row. @param
/// comparisons that share the level, a gate of a candidate each; absent: the run's own gate rows.
DuelPlan plan_duel(const RunData& run, const AnalysisSettings& settings, double change,
                   std::optional<int> comparisons = std::nullopt);

/// From a calibration alone: the blocks by the square-root law, each block of `arms` trials.
DuelPlan plan_duel(const Calibration& calibration, const std::vector<Gate>& gates, double change,
                   int arms);

/// "12 blocks (95 % interval 6 to 40), about 14 min 30 s, find a change of 2 % with 80 %
/// probability", then a line for each row.
std::string describe_plan(const DuelPlan& plan);

}  // namespace memduel
