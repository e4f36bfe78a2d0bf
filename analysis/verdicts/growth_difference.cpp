#include "analysis/verdicts/growth_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "analysis/verdicts/comparison.h"

namespace memduel {

double SlopeDifference::p_value() const {
  if (freedom <= 0 || std::abs(value) <= resolution) return 1;
  if (error == 0) return 0;
  const boost::math::students_t t(freedom);
  return 2 * boost::math::cdf(boost::math::complement(t, std::abs(value) / error));
}

Interval SlopeDifference::interval(double alpha) const {
  if (freedom <= 0) return {};
  const boost::math::students_t t(freedom);
  const double by_trials = error * boost::math::quantile(boost::math::complement(t, alpha / 2));
  const double width = std::max(by_trials, resolution);
  return {value - width, value + width};
}

SlopeDifference slope_difference(const TrialSlopes& baseline, const TrialSlopes& candidate) {
  SlopeDifference difference;
  difference.value = candidate.mean() - baseline.mean();
  difference.resolution = baseline.resolution + candidate.resolution;
  if (!baseline.has_interval() || !candidate.has_interval()) return difference;
  const double a = baseline.error() * baseline.error();
  const double b = candidate.error() * candidate.error();
  difference.error = std::sqrt(a + b);
  difference.freedom =
      a + b > 0 ? (a + b) * (a + b) / (a * a / baseline.freedom() + b * b / candidate.freedom())
                : std::min(baseline.freedom(), candidate.freedom());
  return difference;
}

void take_growth(MeasuredRow& row, const GrowthEstimate& baseline, const GrowthEstimate& candidate,
                 std::optional<double> noise_floor) {
  if (!baseline.slope || !candidate.slope) return;
  Comparison& out = row.comparison;
  GrowthDifference growth;
  growth.difference = slope_difference(baseline.trials, candidate.trials);
  growth.baseline = baseline.verdict;
  growth.candidate = candidate.verdict;
  const bool same = baseline.reason == candidate.reason;
  growth.reason = same
                      ? baseline.reason
                      : fmt::format("baseline {}; candidate {}", baseline.reason, candidate.reason);
  row.effect = growth.difference.value;
  row.margin = std::max(baseline.matters, candidate.matters);
  row.claim_margin = std::max(row.margin, noise_floor.value_or(0));
  row.exact = out.exact = false;
  row.test.reset();
  row.mean_p.reset();
  row.spread_p.reset();
  out.reference_orders.reset();
  out.removed_place.reset();
  out.apart = false;
  out.margin = row.margin;
  out.baseline_median = baseline.slope;
  out.candidate_median = candidate.slope;
  out.difference = growth.difference.value;
  out.ratio.reset();
  out.p_value.reset();
  out.test.clear();
  if (growth.difference.freedom > 0) {
    out.p_value = growth.difference.p_value();
    out.test = kWelch;
  }
  row.growth = std::move(growth);
}

}  // namespace memduel
