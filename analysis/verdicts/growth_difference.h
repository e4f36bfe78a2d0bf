// How the growth of two variants differs: Welch's t of their trials' slopes, one slope a trial.
#pragma once

#include <optional>
#include <string>

#include "analysis/growth/growth.h"
#include "analysis/values/interval.h"
#include "analysis/values/results.h"

namespace memduel {

struct MeasuredRow;

/// The mean slope of the candidate's trials minus that of the baseline's. Trials that vary widen
/// the interval: the error is that of both means. p and interval never disagree.
struct SlopeDifference {
  double value = 0;
  double error = 0;
  double freedom = 0;     ///< Welch and Satterthwaite's; 0 below three trials of either variant
  double resolution = 0;  ///< half of every interval at least: what readings cannot tell apart

  [[nodiscard]] double p_value() const;
  [[nodiscard]] Interval interval(double alpha) const;
};

SlopeDifference slope_difference(const TrialSlopes& baseline, const TrialSlopes& candidate);

/// What a row of growth takes from the judgements of its two variants.
struct GrowthDifference {
  SlopeDifference difference;
  GrowthVerdict baseline = GrowthVerdict::inconclusive;
  GrowthVerdict candidate = GrowthVerdict::inconclusive;
  std::string reason;
};

/// Makes the row one of growth: effect, medians, margin, p and the name of the method are those of
/// the judged slopes. The noise floor of a calibration raises what a change must reach.
void take_growth(MeasuredRow& row, const GrowthEstimate& baseline, const GrowthEstimate& candidate,
                 std::optional<double> noise_floor = std::nullopt);

}  // namespace memduel
