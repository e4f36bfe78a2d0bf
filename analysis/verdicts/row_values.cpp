#include "analysis/verdicts/row_values.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace memduel {
namespace {

/// What a trial that failed counts as: of an undeclared metric it is beyond any ceiling.
double worst_of(const MetricInfo& metric) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return metric.better == Direction::higher ? -kInfinity : kInfinity;
}

void note_failure(RowValues& row, const Observation& trial) {
  if (row.candidate_failed++ == 0) row.failure = trial.failure;
  if (trial.status == TrialStatus::killed_for_memory) ++row.candidate_killed_for_memory;
}

/// A superblock's trials of two arms, in the order in which they ran.
using Neighbourhood = std::vector<const Observation*>;

std::map<int, Neighbourhood> neighbourhoods(const ArmObservations& baseline,
                                            const ArmObservations& candidate) {
  std::map<int, Neighbourhood> all;
  for (const auto* arm : {&baseline, &candidate})
    for (const Observation& trial : arm->trials) all[superblock_of(trial.block)].push_back(&trial);
  for (auto& [number, trials] : all)
    std::ranges::sort(trials, [](const Observation* x, const Observation* y) {
      return x->position < y->position;
    });
  return all;
}

PlacedValue placed(const Observation& trial, double value, bool candidate,
                   const Neighbourhood& neighbourhood) {
  PlacedValue place{value, candidate, superblock_of(trial.block), 0, 0};
  const auto at = std::ranges::find(neighbourhood, &trial);
  const auto index = static_cast<int>(at - neighbourhood.begin());
  place.neighbours = 2 * place.superblock + index / 2;
  // Of three that are left nobody knows who was whose neighbour.
  if (neighbourhood.size() % 2 == 0) place.side = index % 2 == 0 ? -0.5 : 0.5;
  return place;
}

/// @param blocks of the values, two by two: the baseline's, then the candidate's.
std::vector<LabelSwaps> restricted_swaps(const RunOrder& order, const ArmPair& pair,
                                         const std::vector<int>& blocks) {
  std::map<int, std::size_t> numbers;  // by block
  for (std::size_t i = 0; i < blocks.size(); ++i) numbers[blocks[i]] = i;
  std::vector<LabelSwaps> all;
  for (PairDeals& segment : pair_deals(order, pair, {blocks.begin(), blocks.end()})) {
    if (segment.places.empty()) continue;
    LabelSwaps& swaps = all.emplace_back();
    for (const PairPlace& place : segment.places)
      swaps.values.push_back(2 * numbers.at(place.block) +
                             static_cast<std::size_t>(place.candidate));
    swaps.deals = std::move(segment.deals);
  }
  return all;
}

RowValues paired_values(const ArmObservations& baseline, const ArmObservations& candidate,
                        const std::string& role, const MetricInfo& metric, Design design,
                        const RunOrder* order) {
  RowValues row;
  std::vector<int> blocks;  // of the placed values
  std::map<int, const Observation*> of_block;
  for (const Observation& b : candidate.trials) of_block[b.block] = &b;
  std::map<int, Neighbourhood> places;
  if (has_places(design)) places = neighbourhoods(baseline, candidate);
  for (const Observation& a : baseline.trials) {
    const auto found = of_block.find(a.block);
    if (found == of_block.end()) continue;
    const Observation& b = *found->second;
    if (a.status != TrialStatus::ok) {
      ++row.baseline_failed;
      continue;
    }
    const auto value_a = value_of(a, role, metric.name);
    const auto value_b = value_of(b, role, metric.name);
    if (b.status != TrialStatus::ok) note_failure(row, b);
    if (!value_a || (!value_b && b.status == TrialStatus::ok)) {
      ++row.incomplete;
      continue;
    }
    row.baseline.push_back(*value_a);
    row.candidate.push_back(b.status == TrialStatus::ok ? *value_b : worst_of(metric));
    if (!has_places(design)) continue;
    blocks.push_back(a.block);
    const Neighbourhood& neighbourhood = places.at(superblock_of(a.block));
    row.placed.values.push_back(placed(a, row.baseline.back(), false, neighbourhood));
    row.placed.values.push_back(placed(b, row.candidate.back(), true, neighbourhood));
  }
  row.placed.removes_places = order != nullptr;
  if (order != nullptr && design == Design::restricted)
    row.placed.swaps = restricted_swaps(*order, order->pair(baseline.arm, candidate.arm), blocks);
  else if (has_places(design))
    row.placed.swaps = swaps_within_superblocks(row.placed.values);
  return row;
}

RowValues unpaired_values(const ArmObservations& baseline, const ArmObservations& candidate,
                          const std::string& role, const MetricInfo& metric) {
  RowValues row;
  for (const Observation& a : baseline.trials) {
    const auto value = value_of(a, role, metric.name);
    if (a.status != TrialStatus::ok) {
      ++row.baseline_failed;
    } else if (value) {
      row.baseline.push_back(*value);
    } else {
      ++row.incomplete;
    }
  }
  for (const Observation& b : candidate.trials) {
    const auto value = value_of(b, role, metric.name);
    if (b.status != TrialStatus::ok) {
      note_failure(row, b);
      row.candidate.push_back(worst_of(metric));
    } else if (value) {
      row.candidate.push_back(*value);
    } else {
      ++row.incomplete;
    }
  }
  return row;
}

}  // namespace

RowValues row_values(const ArmObservations& baseline, const ArmObservations& candidate,
                     const std::string& role, const MetricInfo& metric, Design design,
                     const RunOrder* order) {
  return design == Design::unpaired
             ? unpaired_values(baseline, candidate, role, metric)
             : paired_values(baseline, candidate, role, metric, design, order);
}

}  // namespace memduel
