#include "analysis/verdicts/reachable_p.h"

#include <algorithm>
#include <set>

#include "analysis/statistics/power.h"
#include "analysis/values/experiment_view.h"
#include "analysis/verdicts/run_order.h"

namespace memduel {
namespace {

std::set<int> first_so_many(int blocks) {
  std::set<int> all;
  for (int block = 1; block <= blocks; ++block) all.insert(block);
  return all;
}

}  // namespace

ReachableP reachable_p(const RunData& run, const AnalysisSettings& settings, int blocks) {
  ReachableP reachable{0, gates_that_share(run, settings)};
  const std::optional<RunOrder> order =
      settings.design == Design::restricted ? run_order(run) : std::nullopt;
  if (!order) {
    reachable.smallest_p = smallest_p(blocks, settings.design);
    return reachable;
  }
  const ExperimentView view = view_config(run.config);
  for (const std::string& arm : view.arms) {
    if (arm == view.baseline || view.control_arms.contains(arm) || view.ablation_arms.contains(arm))
      continue;
    const auto deals = pair_deals(*order, order->pair(view.baseline, arm), first_so_many(blocks));
    reachable.smallest_p = std::max(reachable.smallest_p, smallest_p(deals));
  }
  return reachable;
}

std::optional<int> fewest_blocks_that_can_decide(const RunData& run,
                                                 const AnalysisSettings& settings) {
  RunData planned;
  planned.config = run.config;
  planned.job = run.job;
  for (int blocks = kMinimumBlocks; blocks <= kMostUsefulBlocks; ++blocks) {
    planned.config["measure"]["repeats"] = blocks;
    if (reachable_p(planned, settings, blocks).can_decide()) return blocks;
  }
  return std::nullopt;
}

}  // namespace memduel
