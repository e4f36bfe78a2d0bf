// The order in which a run's trials were to run, known from its config, and the smallest p that it
// can reach.

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "model/experiment_view.h"
#include "stats/sample_size.h"
#include "verdict/analyse.h"
#include "verdict/comparison.h"

namespace memduel {
namespace {

using nlohmann::json;

/// In how many shares the run is done: "2/4" is the second of four.
int shares_of(const json& environment) {
  if (!environment.is_object()) return 1;
  json share = environment.value("shard", json());
  if (const auto all = environment.find("shards");
      all != environment.end() && all->is_array() && !all->empty() && all->front().is_object())
    share = all->front().value("shard", json());
  if (!share.is_string()) return 1;
  const std::string text = share.get<std::string>();
  int shares = 1;
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos)
    std::from_chars(text.data() + slash + 1, text.data() + text.size(), shares);
  return std::max(1, shares);
}

/// Whether every trial ran where the order has its arm.
bool is_order_of(const RunOrder& order, const RunData& run) {
  return std::ranges::all_of(run.trials, [&](const TrialData& trial) {
    if (trial.kind != TrialKind::measure) return true;
    const int superblock = superblock_of(trial.block);
    const auto place = static_cast<std::size_t>(trial.position);
    for (const Segment& segment : order.segments) {
      const auto index = static_cast<std::size_t>(superblock - segment.first);
      if (superblock < segment.first || index >= segment.superblocks.size()) continue;
      const TrialOrder& arms = segment.superblocks[index];
      return place < arms.size() && order.arms[arms[place]] == trial.arm;
    }
    return false;
  });
}

}  // namespace

ArmPair RunOrder::pair(const std::string& baseline, const std::string& candidate) const {
  const auto number = [&](const std::string& arm) {
    return static_cast<std::size_t>(std::ranges::find(arms, arm) - arms.begin());
  };
  return {number(baseline), number(candidate)};
}

std::optional<RunOrder> run_order(const RunData& run) {
  const Measure& measure = run.config.measure;
  if (measure.order != BlockOrder::restricted) return std::nullopt;
  const ExperimentView view = view_config(run.config);
  const auto baseline = std::ranges::find(view.arms, view.baseline);
  if (baseline == view.arms.end() || view.arms.size() < 2) return std::nullopt;
  RunOrder order;
  order.arms = view.arms;
  order.plan.arms = view.arms.size();
  order.plan.baseline = static_cast<std::size_t>(baseline - view.arms.begin());
  order.plan.seed = measure.seed.value_or(order.plan.seed);
  order.plan.segments =
      planned_segments(measure.repeats, view.arms.size() - 1, shares_of(run.environment));
  order.segments = segments_of(order.plan);
  int planned = 0;
  for (const Segment& segment : order.segments)
    planned += static_cast<int>(segment.superblocks.size());
  int last = 0;
  for (const TrialData& trial : run.trials)
    if (trial.kind == TrialKind::measure) last = std::max(last, trial.block);
  const std::vector<Segment> as_planned = order.segments;
  // The last block may be alone, or the first of a pair that the run did not end.
  for (const int size_of_last : {2, 1}) {
    order.segments = as_planned;
    for (int beyond = planned; 2 * beyond < last; ++beyond)
      order.segments.push_back(
          segment_at(order.plan, beyond, last - 2 * beyond > 1 ? 2 : size_of_last));
    if (is_order_of(order, run)) return order;
  }
  return std::nullopt;
}

std::vector<PairDeals> pair_deals(const RunOrder& order, const ArmPair& pair,
                                  const std::set<int>& blocks) {
  std::vector<PairDeals> deals;
  for (const Segment& segment : order.segments)
    deals.push_back(accepted_deals(segment, order.plan.arms, order.plan.baseline, pair, blocks));
  return deals;
}

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
    planned.config.measure.repeats = blocks;
    if (reachable_p(planned, settings, blocks).can_decide()) return blocks;
  }
  return std::nullopt;
}

}  // namespace memduel
