// One row of a comparison: its values, effect, margin and test, and the change it can detect.

#include "verdict/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include "stats/estimates.h"
#include "stats/hypothesis_tests.h"
#include "stats/sample_size.h"
#include "stats/trial_order.h"
#include "util/text.h"

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

namespace {

bool all_positive(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double x) { return x > 0; });
}

bool is_exact(const MeasuredRow& row) {
  return row.metric.exact && row.values.candidate_failed == 0 &&
         std::min(row.values.baseline.size(), row.values.candidate.size()) >=
             static_cast<size_t>(exact_trials(row.family)) &&
         one_distinct_value(row.values.baseline) && one_distinct_value(row.values.candidate);
}

double margin_on_scale(const MeasuredRow& row) {
  const double share = share_on_scale(row, row.metric.relative_margin);
  double amount = amount_on_scale(row, row.metric.absolute_margin);
  if (row.metric.relative_margin > 0) {
    const double least =
        row.exact ? 0 : amount_on_scale(row, kSmallestAmountShare * row.metric.absolute_margin);
    amount = std::min(amount, std::max(share_on_scale(row, kLargestAmountShare), least));
  }
  return std::max(share, amount);
}

double floor_on_scale(const MeasuredRow& row, std::optional<double> noise_floor) {
  if (!noise_floor) return 0;
  return row.metric.scale == Scale::logarithm ? share_on_scale(row, *noise_floor) : *noise_floor;
}

void describe_values(MeasuredRow& row) {
  Comparison& out = row.comparison;
  out.metric = row.metric.name;
  out.n_baseline = static_cast<int>(row.values.baseline.size());
  out.n_candidate = static_cast<int>(row.values.candidate.size());
  if (out.n_baseline > 0) {
    out.baseline_median = median(row.values.baseline);
    out.baseline_max = *std::ranges::max_element(row.values.baseline);
  }
  if (out.n_candidate == 0) return;
  out.candidate_median = finite(median(row.values.candidate));
  out.candidate_max = finite(*std::ranges::max_element(row.values.candidate));
}

bool are_apart(const std::vector<double>& a, const std::vector<double>& b) {
  const auto [least_a, most_a] = std::ranges::minmax_element(a);
  const auto [least_b, most_b] = std::ranges::minmax_element(b);
  return *most_a < *least_b || *most_b < *least_a;
}

void set_test(MeasuredRow& row, std::span<const double> a, std::span<const double> b,
              Design design) {
  if (!has_places(design)) {
    row.test.emplace(a, b, design);
    return;
  }
  const PlacedValues placed = placed_on_scale(row);
  row.test.emplace(placed);
  row.comparison.reference_orders = count_of(placed.swaps);
  // Of strong verdicts alone.
  if (row.values.candidate_failed == 0 && row.test->p_value() <= kAlpha)
    row.mean_p = mean_p(placed);
}

void set_effect(MeasuredRow& row, Design design) {
  Comparison& out = row.comparison;
  const std::vector<double> a = on_scale(row.values.baseline, row.scale);
  const std::vector<double> b = on_scale(row.values.candidate, row.scale);
  row.effect = hodges_lehmann_shift(a, b);
  out.apart = are_apart(a, b);
  out.difference = finite(hodges_lehmann_shift(row.values.baseline, row.values.candidate));
  const size_t n = std::min(a.size(), b.size());
  if (!row.exact && n >= static_cast<size_t>(kMinimumBlocks)) {
    set_test(row, a, b, design);
    out.p_value = row.test->p_value();
    out.test = row.test->name();
  }
  if (row.scale == Scale::difference) out.difference = finite(row.effect);
  if (row.scale == Scale::logarithm) out.ratio = finite(std::exp(row.effect));
}

std::string with_sign(const std::string& text, double value) {
  return value > 0 ? "+" + text : text;
}

std::string describe_end(const MeasuredRow& row, double end) {
  if (std::isinf(end)) return end < 0 ? "anything below" : "anything above";
  return describe_effect(row, end);
}

}  // namespace

bool one_distinct_value(const std::vector<double>& values) {
  return std::ranges::all_of(values, [&](double x) { return x == values.front(); });
}

int exact_trials(int gates) {
  int trials = 1;
  while (std::ldexp(2.0, -2 * trials) * gates > kAlpha) ++trials;
  return trials;
}

bool may_be_drift(const MeasuredRow& row) {
  return !row.in_turns && row.metric.unit == Unit::seconds;
}

std::optional<double> finite(double x) {
  return std::isfinite(x) ? std::optional(x) : std::nullopt;
}

MeasuredRow measure_values(const MetricInfo& metric, RowValues values) {
  MeasuredRow row;
  row.metric = metric;
  row.values = std::move(values);
  describe_values(row);
  const bool logarithm = metric.scale == Scale::logarithm && all_positive(row.values.baseline) &&
                         all_positive(row.values.candidate);
  row.scale = logarithm ? Scale::logarithm : Scale::difference;
  row.margin = row.claim_margin = margin_on_scale(row);
  return row;
}

MeasuredRow measure_row(const MetricInfo& metric, RowValues values, Design design,
                        std::optional<double> noise_floor, int family) {
  MeasuredRow row = measure_values(metric, std::move(values));
  row.family = family;
  row.least_trials = least_trials(family, design);
  row.in_turns = design != Design::unpaired;
  row.exact = is_exact(row);
  row.comparison.exact = row.exact;
  row.margin = margin_on_scale(row);
  row.claim_margin = std::max(row.margin, floor_on_scale(row, noise_floor));
  row.comparison.margin = row.scale == Scale::logarithm ? std::expm1(row.margin) : row.margin;
  if (!row.values.baseline.empty() && !row.values.candidate.empty()) set_effect(row, design);
  return row;
}

void set_removed_place(MeasuredRow& row, const Interval& interval) {
  row.comparison.removed_place.reset();
  const SwapTest* test = row.test ? row.test->swaps() : nullptr;
  if (test == nullptr || !std::isfinite(row.effect)) return;
  const PlaceRule& places = test->places();
  const double low = std::min({0.0, row.effect, interval.low});
  const double high = std::max({0.0, row.effect, interval.high});
  const bool changes = std::ranges::any_of(
      places.borders(), [&](double border) { return low <= border && border <= high; });
  if (!changes && !places.acts(row.effect)) return;
  const auto effect = shown(row, places.effect().at(row.effect));
  const auto estimate = shown(row, test->estimate_without_places());
  if (effect && estimate)
    row.comparison.removed_place = {*effect, places.p_value(row.effect), *estimate, !changes};
}

std::vector<double> on_scale(const std::vector<double>& values, Scale scale) {
  std::vector<double> scaled = values;
  if (scale == Scale::logarithm) {
    for (double& x : scaled) x = std::log(x);
  }
  return scaled;
}

PlacedValues placed_on_scale(const MeasuredRow& row) {
  PlacedValues placed = row.values.placed;
  if (row.scale == Scale::logarithm)
    for (PlacedValue& value : placed.values) value.value = std::log(value.value);
  return placed;
}

double share_on_scale(const MeasuredRow& row, double share) {
  if (row.scale == Scale::logarithm) return std::log1p(share);
  return share * std::abs(row.comparison.baseline_median.value_or(0));
}

double amount_on_scale(const MeasuredRow& row, double amount) {
  if (row.scale == Scale::difference) return amount;
  const auto& typical = row.comparison.baseline_median;
  return typical ? std::log1p(amount / *typical) : 0;
}

std::optional<double> shown(const MeasuredRow& row, double on_scale) {
  if (!std::isfinite(on_scale)) return std::nullopt;
  return finite(row.scale == Scale::logarithm ? std::exp(on_scale) : on_scale);
}

std::string describe_effect(const MeasuredRow& row, double on_scale) {
  if (row.scale == Scale::difference) {
    return with_sign(format_metric(row.metric.name, on_scale), on_scale);
  }
  return format_change(std::exp(on_scale));
}

std::string describe_interval(const MeasuredRow& row, const Interval& interval) {
  return format_interval(describe_end(row, interval.low), describe_end(row, interval.high));
}

std::string describe_size(const MeasuredRow& row, double on_scale) {
  if (row.scale == Scale::difference) return format_metric(row.metric.name, on_scale);
  return format_size(row.metric.name, std::expm1(on_scale), row.comparison.baseline_median);
}

namespace {

constexpr int kPowerDraws = 200;

}  // namespace

void add_power(MeasuredRow& row, Design design, double alpha, int family, unsigned long seed) {
  Comparison& out = row.comparison;
  if (row.exact) out.minimum_detectable = 0;
  if (!row.test) return;
  const std::optional<Noise> noise =
      noise_of(on_scale(row.values.baseline, row.scale), on_scale(row.values.candidate, row.scale));
  if (!noise) return;
  Random random(seed);
  const auto blocks = static_cast<int>(noise->a.size());
  const EstimateScatter scatter = scatter_of(*noise, blocks, kPowerDraws, random);
  if (const auto found =
          detectable_shift(scatter, blocks, design, alpha / family, row.claim_margin))
    out.minimum_detectable = row.scale == Scale::logarithm ? std::expm1(*found) : *found;
  if (row.decision.verdict != Verdict::inconclusive || may_be_drift(row)) return;
  out.blocks_needed =
      blocks_to_settle(scatter, row.effect, row.claim_margin, blocks, design, alpha / family);
  if (out.blocks_needed) *out.blocks_needed = std::max(*out.blocks_needed, row.least_trials);
  out.reason +=
      out.blocks_needed
          ? fmt::format("; about {} blocks should settle it", *out.blocks_needed)
          : fmt::format("; {} blocks would not settle it with this noise", kMostUsefulBlocks);
}

}  // namespace memduel
