// One row of a comparison: effect, margin and test of its values, or of the slopes of growth; and
// the rows of a whole run.

#include "verdict/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "analysis_steps.h"
#include "stats/estimates.h"
#include "stats/sample_size.h"
#include "util/process.h"
#include "util/text.h"

namespace memduel {
namespace {

bool all_positive(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double x) { return x > 0; });
}

std::string with_sign(const std::string& text, double value) {
  return value > 0 ? "+" + text : text;
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

std::optional<double> finite(double x) {
  return std::isfinite(x) ? std::optional(x) : std::nullopt;
}

RowScale scale_of(const MetricInfo& metric, const RowValues& values) {
  const bool logarithm = metric.scale == Scale::logarithm && all_positive(values.baseline) &&
                         all_positive(values.candidate);
  return {metric.name, logarithm ? Scale::logarithm : Scale::difference,
          values.baseline.empty() ? std::nullopt : std::optional(median(values.baseline))};
}

std::vector<double> RowScale::of(std::vector<double> values) const {
  if (kind == Scale::logarithm)
    for (double& x : values) x = std::log(x);
  return values;
}

double RowScale::share(double share) const {
  if (kind == Scale::logarithm) return std::log1p(std::max(-1.0, share));
  return share * std::abs(typical.value_or(0));
}

double RowScale::amount(double amount) const {
  if (kind == Scale::difference) return amount;
  return typical ? std::log1p(std::max(-1.0, amount / *typical)) : 0;
}

std::optional<double> RowScale::shown(double on_scale) const {
  if (!std::isfinite(on_scale)) return std::nullopt;
  return finite(kind == Scale::logarithm ? std::exp(on_scale) : on_scale);
}

std::string RowScale::describe_effect(double on_scale) const {
  if (kind == Scale::difference) return with_sign(format_metric(metric, on_scale), on_scale);
  return format_change(std::exp(on_scale));
}

std::string RowScale::describe_interval(const Interval& interval) const {
  const auto end = [&](double at) -> std::string {
    if (std::isinf(at)) return at < 0 ? "−∞" : "+∞";
    return describe_effect(at);
  };
  return format_interval(end(interval.low), end(interval.high));
}

std::string RowScale::describe_size(double on_scale) const {
  if (kind == Scale::difference) return format_metric(metric, on_scale);
  return format_size(metric, std::expm1(on_scale), typical);
}

double margin_of(const MetricInfo& metric, const RowScale& scale, bool exact) {
  const double share = scale.share(metric.relative_margin);
  double amount = scale.amount(metric.absolute_margin);
  if (metric.relative_margin > 0) {
    const double least = exact ? 0 : scale.amount(kSmallestAmountShare * metric.absolute_margin);
    amount = std::min(amount, std::max(scale.share(kLargestAmountShare), least));
  }
  return std::max(share, amount);
}

std::optional<GrowthDifference> growth_difference(const GrowthEstimate& baseline,
                                                  const GrowthEstimate& candidate) {
  if (!baseline.slope || !candidate.slope) return std::nullopt;
  return GrowthDifference{
      slope_difference(baseline.trials, candidate.trials),
      *baseline.slope,
      *candidate.slope,
      std::max(baseline.matters, candidate.matters),
      baseline.verdict,
      candidate.verdict,
      baseline.reason == candidate.reason
          ? baseline.reason
          : fmt::format("baseline: {}; candidate: {}", baseline.reason, candidate.reason)};
}

namespace {

bool is_exact(const RowQuestion& question, const RowValues& values) {
  return question.metric.exact && values.candidate_failed == 0 &&
         std::min(values.baseline.size(), values.candidate.size()) >=
             static_cast<size_t>(exact_trials(question.family)) &&
         one_distinct_value(values.baseline) && one_distinct_value(values.candidate);
}

double floor_on_scale(const RowQuestion& question, const RowScale& scale) {
  if (!question.noise_floor) return 0;
  return question.metric.scale == Scale::logarithm ? scale.share(*question.noise_floor)
                                                   : *question.noise_floor;
}

bool are_apart(const std::vector<double>& a, const std::vector<double>& b) {
  const auto [least_a, most_a] = std::ranges::minmax_element(a);
  const auto [least_b, most_b] = std::ranges::minmax_element(b);
  return *most_a < *least_b || *most_b < *least_a;
}

/// Values and places on the row's scale.
PlacedValues placed_on(const RowScale& scale, PlacedValues placed) {
  if (scale.kind == Scale::logarithm)
    for (PlacedValue& value : placed.values) value.value = std::log(value.value);
  return placed;
}

}  // namespace

MeasuredRow measure_row(RowQuestion question, RowValues measured,
                        std::optional<GrowthDifference> growth) {
  MeasuredRow row{std::move(question), std::move(measured)};
  const RowQuestion& asked = row.question;
  const RowValues& values = row.values;
  row.least_trials = std::max(least_trials(asked.family, asked.design), asked.least_trials);
  if (growth) {
    row.scale = {asked.metric.name, Scale::difference, growth->baseline_slope};
    row.candidate_median = growth->candidate_slope;
    row.effect = growth->difference.value;
    row.difference = growth->difference.value;
    row.margin = growth->margin;
    row.claim_margin = std::max(growth->margin, asked.noise_floor.value_or(0));
    if (growth->difference.freedom > 0) row.p_value = growth->difference.p_value();
    row.growth = std::move(growth);
    return row;
  }
  row.scale = scale_of(asked.metric, values);
  if (!values.candidate.empty()) row.candidate_median = finite(median(values.candidate));
  row.exact = is_exact(asked, values);
  row.margin = margin_of(asked.metric, row.scale, row.exact);
  row.claim_margin = std::max(row.margin, floor_on_scale(asked, row.scale));
  if (values.baseline.empty() || values.candidate.empty()) return row;
  const std::vector<double> a = row.scale.of(values.baseline);
  const std::vector<double> b = row.scale.of(values.candidate);
  row.effect = hodges_lehmann_shift(a, b);
  row.difference = finite(row.scale.kind == Scale::difference
                              ? row.effect
                              : hodges_lehmann_shift(values.baseline, values.candidate));
  row.apart = are_apart(a, b);
  if (row.exact || std::min(a.size(), b.size()) < static_cast<size_t>(kMinimumBlocks)) return row;
  if (has_places(asked.design)) {
    const PlacedValues placed = placed_on(row.scale, values.placed);
    row.test.emplace(placed);
    // Of strong verdicts alone.
    if (values.candidate_failed == 0 && row.test->p_value() <= kAlpha) row.mean_p = mean_p(placed);
  } else {
    row.test.emplace(a, b, asked.design);
  }
  row.p_value = row.test->p_value();
  if (asked.gate && !values.placed.empty()) row.spread_p = spread_p(values.placed);
  return row;
}

namespace {

std::set<std::string> without(const std::set<std::string>& all, const std::set<std::string>& out) {
  std::set<std::string> rest;
  std::ranges::set_difference(all, out, std::inserter(rest, rest.end()));
  return rest;
}

void note_one_sided(std::vector<Note>& notes, const std::string& role,
                    const std::set<std::string>& metrics, const std::string& has,
                    const std::string& lacks) {
  if (metrics.empty()) return;
  notes.push_back(
      {"metric_in_one_variant_only",
       fmt::format("of {}, variant {} has {} that variant {} lacks, so it is not compared: {}",
                   role, has, format_count(metrics.size(), "metric"), lacks,
                   fmt::join(metrics, ", ")),
       "enable the same meters and custom metrics in both; metrics that are read once a second, "
       "such as PSS, are missing in short trials"});
}

std::optional<GrowthDifference> growth_between(const std::vector<GrowthRow>& growth,
                                               const RowQuestion& asked) {
  const GrowthRow* a = find_growth(growth, asked.baseline, asked.role, asked.metric.name);
  const GrowthRow* b = find_growth(growth, asked.candidate, asked.role, asked.metric.name);
  if (a == nullptr || b == nullptr) return std::nullopt;
  return growth_difference(a->estimate, b->estimate);
}

RowQuestion question_of(const Inquiry& inquiry, const std::string& candidate,
                        const std::string& role, const std::string& metric) {
  const bool control = inquiry.view.control_arms.contains(candidate);
  const bool gate = !control && is_gate_row(inquiry.gates, role, metric);
  const bool advisory =
      !control && !gate && std::ranges::any_of(inquiry.gates, [&](const Gate& one) {
        return asks_for_change(one, role, metric);
      });
  return {metric_info(inquiry.run.job, metric),
          inquiry.settings.design,
          noise_floor(inquiry.settings.calibration, {role, metric}),
          gate ? inquiry.gate_rows : 1,
          inquiry.least_trials,
          inquiry.view.baseline,
          candidate,
          role,
          gate,
          advisory};
}

struct AskedRow {
  const ArmObservations* candidate;
  std::string role;
  std::string metric;
};

void ask_of_candidate(std::vector<AskedRow>& asked, std::vector<Note>& limitations,
                      const Inquiry& inquiry, const ArmObservations& candidate) {
  const ArmObservations& baseline = inquiry.observations.arms.front();
  for (const std::string& role : inquiry.roles) {
    const std::set<std::string> of_a = metrics_of(baseline, role);
    const std::set<std::string> of_b = metrics_of(candidate, role);
    const std::set<std::string> only_a = without(of_a, of_b);
    // A candidate that never lived has no metrics, and is worse in all of them.
    const bool compare_all = !any_alive(candidate);
    for (const std::string& metric : compare_all ? of_a : without(of_a, only_a))
      asked.push_back({&candidate, role, metric});
    if (!compare_all) note_one_sided(limitations, role, only_a, baseline.arm, candidate.arm);
    if (any_alive(baseline))
      note_one_sided(limitations, role, without(of_b, of_a), candidate.arm, baseline.arm);
  }
}

MeasuredRow measured(const AskedRow& asked, const Inquiry& inquiry,
                     const std::vector<GrowthRow>& growth) {
  const ArmObservations& candidate = *asked.candidate;
  RowQuestion question = question_of(inquiry, candidate.arm, asked.role, asked.metric);
  RowValues values =
      row_values(inquiry.observations.arms.front(), candidate, asked.role, question.metric,
                 question.design, inquiry.order ? &*inquiry.order : nullptr);
  auto of_growth = growth_between(growth, question);
  return measure_row(std::move(question), std::move(values), std::move(of_growth));
}

}  // namespace

MeasuredRows measure_rows(const Inquiry& inquiry, const std::vector<GrowthRow>& growth) {
  MeasuredRows all;
  std::vector<AskedRow> asked;
  for (const ArmObservations& arm : inquiry.observations.arms | std::views::drop(1))
    if (!inquiry.view.ablation_arms.contains(arm.arm))
      ask_of_candidate(asked, all.limitations, inquiry, arm);
  std::vector<std::optional<MeasuredRow>> rows(asked.size());
  run_parallel(rows.size(),
               [&](std::size_t i) { rows[i].emplace(measured(asked[i], inquiry, growth)); });
  for (std::optional<MeasuredRow>& row : rows) all.rows.push_back(std::move(*row));
  return all;
}

}  // namespace memduel
