#include "analysis/growth/trial_slopes.h"

#include <algorithm>

#include "analysis/growth/growth.h"
#include "analysis/growth/run_series.h"

namespace memduel {

double TrialSlopes::mean() const {
  return over_runs(values).mean;
}

double TrialSlopes::error() const {
  return over_runs(values).error;
}

double TrialSlopes::freedom() const {
  return static_cast<double>(values.size()) - 1;
}

bool TrialSlopes::has_interval() const {
  return values.size() >= kGrowthRuns;
}

Interval TrialSlopes::interval(double alpha) const {
  if (!has_interval()) return {};
  const OverRuns over = over_runs(values);
  const double width = std::max(over.width(alpha), resolution);
  return {over.mean - width, over.mean + width};
}

double slope_resolution(double reading_bytes, double length) {
  // Half a reading, times the sum of |x - middle| (length * n / 4) over that of its squares
  // (length^2 * n / 12).
  constexpr double kOfHalves = 3;
  return kOfHalves * (reading_bytes / 2) / length;
}

}  // namespace memduel
