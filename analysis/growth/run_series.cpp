#include "analysis/growth/run_series.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <utility>

namespace memduel {

AlignedRuns align_runs(std::span<const GrowthSeries> runs) {
  AlignedRuns all;
  std::vector<const GrowthSeries*> used;
  for (const GrowthSeries& run : runs)
    if (run.x.size() >= 3) used.push_back(&run);
  if (used.empty()) return all;
  all.x = used.front()->x;
  for (const GrowthSeries* run : used)
    std::erase_if(all.x, [&](double x) { return !std::ranges::binary_search(run->x, x); });
  for (const GrowthSeries* run : used) {
    std::vector<double> y;
    for (std::size_t i = 0; i < run->x.size(); ++i)
      if (std::ranges::binary_search(all.x, run->x[i])) y.push_back(run->y[i]);
    all.runs.push_back(std::move(y));
  }
  return all;
}

std::vector<double> mean_series(const std::vector<std::vector<double>>& runs,
                                std::optional<std::size_t> without) {
  std::vector<double> sum(runs.front().size());
  double count = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (r == without) continue;
    ++count;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += runs[r][i];
  }
  for (double& value : sum) value /= count;
  return sum;
}

double OverRuns::width(double alpha) const {
  if (freedom < 1) return std::numeric_limits<double>::infinity();
  return error * boost::math::quantile(
                     boost::math::complement(boost::math::students_t(freedom), alpha / 2));
}

double OverRuns::p_below() const {
  if (freedom < 1) return 1;
  if (error == 0) return mean < 0 ? 0 : 1;
  return boost::math::cdf(boost::math::students_t(freedom), mean / error);
}

OverRuns over_runs(std::vector<double> values) {
  OverRuns over;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) over.mean += value / n;
  over.values = std::move(values);
  if (over.values.size() < 2) return over;
  double squares = 0;
  for (const double value : over.values) squares += (value - over.mean) * (value - over.mean);
  over.freedom = n - 1;
  over.error = std::sqrt(squares / (n - 1) / n);
  return over;
}

OverRuns jackknife(const std::vector<std::vector<double>>& runs,
                   const std::function<double(std::span<const double>)>& estimate) {
  const auto n = static_cast<double>(runs.size());
  const double whole = estimate(mean_series(runs));
  std::vector<double> pseudo;
  for (std::size_t r = 0; r < runs.size(); ++r)
    pseudo.push_back(n * whole - (n - 1) * estimate(mean_series(runs, r)));
  OverRuns over = over_runs(std::move(pseudo));
  for (double& value : over.values) value += whole - over.mean;
  over.mean = whole;
  return over;
}

}  // namespace memduel
