#include "analysis/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/hodges_lehmann.h"
#include "base/text.h"

namespace memduel {
namespace {

constexpr size_t kExactTrials = 2;

bool one_distinct_value(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double x) { return x == values.front(); });
}

bool all_positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return x > 0; });
}

bool is_exact(const MeasuredRow& row) {
  return row.metric.exact && row.values.candidate_failed == 0 &&
         std::min(row.values.baseline.size(), row.values.candidate.size()) >= kExactTrials &&
         one_distinct_value(row.values.baseline) && one_distinct_value(row.values.candidate);
}

double margin_on_scale(const MeasuredRow& row, std::optional<double> noise_floor) {
  const double margin = std::max(share_on_scale(row, row.metric.relative_margin),
                                 amount_on_scale(row, row.metric.absolute_margin));
  if (!noise_floor) return margin;
  const double floor =
      row.metric.scale == Scale::logarithm ? share_on_scale(row, *noise_floor) : *noise_floor;
  return std::max(margin, floor);
}

void describe_values(MeasuredRow& row) {
  Comparison& out = row.comparison;
  out.metric = row.metric.name;
  out.n_baseline = static_cast<int>(row.values.baseline.size());
  out.n_candidate = static_cast<int>(row.values.candidate.size());
  if (out.n_baseline > 0) {
    out.baseline_median = median(row.values.baseline);
    out.baseline_max = *std::max_element(row.values.baseline.begin(), row.values.baseline.end());
  }
  if (out.n_candidate == 0) return;
  out.candidate_median = finite(median(row.values.candidate));
  out.candidate_max =
      finite(*std::max_element(row.values.candidate.begin(), row.values.candidate.end()));
}

void set_effect(MeasuredRow& row, Design design) {
  Comparison& out = row.comparison;
  const std::vector<double> a = on_scale(row.values.baseline, row.scale);
  const std::vector<double> b = on_scale(row.values.candidate, row.scale);
  row.effect = hodges_lehmann_shift(a, b);
  out.difference = finite(hodges_lehmann_shift(row.values.baseline, row.values.candidate));
  if (row.scale == Scale::logarithm) out.ratio = finite(std::exp(row.effect));
  const size_t n = std::min(a.size(), b.size());
  if (row.exact || n < static_cast<size_t>(kMinimumBlocks)) return;
  row.test.emplace(a, b, design);
  out.p_value = row.test->p_value();
}

std::string with_sign(const std::string& text, double value) {
  return value > 0 ? "+" + text : text;
}

std::string describe_end(const MeasuredRow& row, double end) {
  if (std::isinf(end)) return end < 0 ? "anything below" : "anything above";
  return describe_effect(row, end);
}

}  // namespace

std::optional<double> finite(double x) {
  return std::isfinite(x) ? std::optional(x) : std::nullopt;
}

MeasuredRow measure_row(const MetricInfo& metric, RowValues values, Design design,
                        std::optional<double> noise_floor) {
  MeasuredRow row;
  row.metric = metric;
  row.values = std::move(values);
  describe_values(row);
  const bool logarithm = metric.scale == Scale::logarithm && all_positive(row.values.baseline) &&
                         all_positive(row.values.candidate);
  row.scale = logarithm ? Scale::logarithm : Scale::difference;
  row.exact = is_exact(row);
  row.margin = margin_on_scale(row, noise_floor);
  row.comparison.margin = row.scale == Scale::logarithm ? std::expm1(row.margin) : row.margin;
  if (!row.values.baseline.empty() && !row.values.candidate.empty()) set_effect(row, design);
  return row;
}

std::vector<double> on_scale(const std::vector<double>& values, Scale scale) {
  std::vector<double> scaled = values;
  if (scale == Scale::logarithm) {
    for (double& x : scaled) x = std::log(x);
  }
  return scaled;
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
  return finite(row.scale == Scale::logarithm ? std::exp(on_scale) : on_scale);
}

std::string describe_effect(const MeasuredRow& row, double on_scale) {
  if (row.scale == Scale::difference) {
    return with_sign(format_metric(row.metric.name, on_scale), on_scale);
  }
  // Digits in proportion: a change of 0.03 % must not read as +0.0 %.
  const double percent = 100 * std::expm1(on_scale);
  const int digits = std::abs(percent) < 1 ? 2 : 1;
  return fmt::format("{:+.{}f} %", percent, digits);
}

std::string describe_interval(const MeasuredRow& row, const Interval& interval) {
  return fmt::format("{} to {}", describe_end(row, interval.low), describe_end(row, interval.high));
}

std::string describe_size(const MeasuredRow& row, double on_scale) {
  if (row.scale == Scale::difference) return format_metric(row.metric.name, on_scale);
  return fmt::format("{:.3g} %", 100 * std::expm1(on_scale));
}

}  // namespace memduel
