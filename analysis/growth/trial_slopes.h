// The slopes of a variant's trials, one of each, and how sure their mean is.
#pragma once

#include <vector>

#include "analysis/values/interval.h"

namespace memduel {

/// The trial is the unit: rounds of one trial follow each other, trials do not. What rounds do
/// inside a trial is in its slope, so how trials differ holds both kinds of error.
struct TrialSlopes {
  std::vector<double> values;  ///< in the order of the trials
  /// Half of every interval at least: what the readings of one trial cannot tell apart is wrong
  /// alike in all trials of a program that does the same each time.
  double resolution = 0;

  [[nodiscard]] double mean() const;
  [[nodiscard]] double error() const;    ///< of the mean; 0 for one trial
  [[nodiscard]] double freedom() const;  ///< degrees of freedom of the error
  /// Whether there are trials enough to compare them with each other.
  [[nodiscard]] bool has_interval() const;
  /// Student's, with coverage 1 - alpha; unbounded below three trials.
  [[nodiscard]] Interval interval(double alpha) const;
};

/// What readings to the nearest `reading_bytes` can do to a least-squares slope over equal steps of
/// x that reach over `length`: every reading of the first half wrong by half of it in one
/// direction, every one of the second half in the other.
double slope_resolution(double reading_bytes, double length);

}  // namespace memduel
