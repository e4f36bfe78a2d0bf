// The order in which a run's trials were to run, known from its config.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/label_swaps.h"
#include "analysis/statistics/trial_order.h"
#include "base/run_data.h"

namespace memduel {

struct RunOrder {
  OrderPlan plan;
  std::vector<std::string> arms;  ///< by number
  std::vector<Segment> segments;  ///< the plan's, then those of blocks beyond it

  [[nodiscard]] ArmPair pair(const std::string& baseline, const std::string& candidate) const;
};

/// Absent where the order is not restricted, or not that of the trials: then each superblock stands
/// by itself.
std::optional<RunOrder> run_order(const RunData& run);

/// How the labels of two arms could have been dealt to the blocks, segment by segment.
std::vector<PairDeals> pair_deals(const RunOrder& order, const ArmPair& pair,
                                  const std::set<int>& blocks);

}  // namespace memduel
