#include "stats/estimates.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <vector>

namespace memduel {
namespace {

double middle(double a, double b) {
  return a == b ? a : a + (b - a) / 2;
}

double median_of_sorted(const std::vector<double>& sorted) {
  const size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : middle(sorted[half - 1], sorted[half]);
}

}  // namespace

double median(std::vector<double> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return *half;
  return middle(*std::max_element(values.begin(), half), *half);
}

double sigma_of_deviations(std::vector<double> deviations) {
  return 1.4826 * median(std::move(deviations));
}

std::vector<double> sorted_differences(std::span<const double> a, std::span<const double> b) {
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (const double y : b) {
    for (const double x : a) differences.push_back(x == y ? 0 : y - x);
  }
  std::ranges::sort(differences);
  return differences;
}

double hodges_lehmann_shift(std::span<const double> a, std::span<const double> b) {
  return median_of_sorted(sorted_differences(a, b));
}

namespace {

constexpr size_t kMostPoints = 1000;

std::vector<double> stretch_medians(std::span<const double> values) {
  std::vector<double> medians;
  medians.reserve(kMostPoints);
  for (size_t k = 0; k < kMostPoints; ++k) {
    const size_t begin = values.size() * k / kMostPoints;
    const size_t end = values.size() * (k + 1) / kMostPoints;
    medians.push_back(median({values.begin() + static_cast<std::ptrdiff_t>(begin),
                              values.begin() + static_cast<std::ptrdiff_t>(end)}));
  }
  return medians;
}

}  // namespace

std::optional<double> theil_sen_slope(std::span<const double> x, std::span<const double> y) {
  if (x.size() > kMostPoints) {
    return theil_sen_slope(stretch_medians(x), stretch_medians(y));
  }
  std::vector<double> slopes;
  slopes.reserve(x.size() * (x.size() + 1) / 2);
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = i + 1; j < x.size(); ++j) {
      if (x[i] != x[j]) slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
    }
  }
  if (slopes.empty()) return std::nullopt;
  return median(std::move(slopes));
}

namespace {

constexpr size_t kMostModes = 5;
constexpr double kLeastGap = 0.01;
constexpr int kLeastGroup = 3;  ///< fewer are single trials, not a mode

}  // namespace

std::vector<Mode> find_modes(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  if (sorted.size() < 2 * kLeastGroup || !std::isfinite(sorted.front()) ||
      !std::isfinite(sorted.back()))
    return {};
  double widest = 0;
  for (size_t i = 1; i < sorted.size(); ++i) widest = std::max(widest, sorted[i] - sorted[i - 1]);
  if (widest < kLeastGap * std::abs(median(sorted)) || widest == 0) return {};
  std::vector<Mode> modes;
  size_t begin = 0;
  for (size_t i = 1; i <= sorted.size(); ++i) {
    if (i < sorted.size() && sorted[i] - sorted[i - 1] <= widest / 2) continue;
    const std::vector<double> group(sorted.begin() + static_cast<std::ptrdiff_t>(begin),
                                    sorted.begin() + static_cast<std::ptrdiff_t>(i));
    modes.push_back({group.front(), group.back(), median(group), static_cast<int>(group.size())});
    begin = i;
  }
  const bool wide = std::ranges::any_of(
      modes, [&](const Mode& mode) { return mode.high - mode.low > widest / 2; });
  if (modes.size() > kMostModes || wide) return {};
  std::erase_if(modes, [](const Mode& mode) { return mode.count < kLeastGroup; });
  if (modes.size() < 2) return {};
  return modes;
}

Tail tail(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  Tail result{sorted.back(), {}};
  for (const double value : sorted) {
    if (result.distinct.empty() || result.distinct.back().value != value) {
      result.distinct.push_back({value, 0});
    }
    ++result.distinct.back().count;
  }
  return result;
}

std::optional<SampleSummary> summarized(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  SampleSummary summary;
  summary.count = values.size();
  const auto n = static_cast<double>(values.size());
  summary.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() > 1) {
    double squares = 0;
    for (const double value : values) squares += std::pow(value - summary.mean, 2);
    summary.stddev = std::sqrt(squares / (n - 1));
  }
  summary.median = median(values);
  summary.min = *std::ranges::min_element(values);
  summary.max = *std::ranges::max_element(values);
  return summary;
}

MeanInterval mean_interval(std::span<const double> values, double alpha) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double error = std::sqrt(squares / (n - 1) / n);
  const boost::math::students_t student(n - 1);
  const double reach = boost::math::quantile(boost::math::complement(student, alpha / 2)) * error;
  return {mean, {mean - reach, mean + reach}};
}

double exceedance_bound(int exceeded, int n) {
  if (exceeded >= n) return 1;
  return boost::math::binomial_distribution<>::find_upper_bound_on_p(n, exceeded, kAlpha);
}

Interval clopper_pearson(int hits, int n) {
  using Binomial = boost::math::binomial_distribution<>;
  return {hits == 0 ? 0 : Binomial::find_lower_bound_on_p(n, hits, 0.025),
          hits == n ? 1 : Binomial::find_upper_bound_on_p(n, hits, 0.025)};
}

}  // namespace memduel
