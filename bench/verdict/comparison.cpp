#include "analysis/verdicts/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "analysis/statistics/hodges_lehmann.h"
#include "analysis/statistics/label_swaps.h"
#include "analysis/statistics/least_trials.h"
#include "analysis/statistics/mean_test.h"
#include "base/text.h"

namespace memduel {
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

}  // namespace memduel
