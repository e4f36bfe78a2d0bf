// The rounds of several runs side by side: their mean, and how sure a number is that every run
// gives.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analysis/growth/growth.h"

namespace memduel {

/// All runs over the rounds that every one of them has.
struct AlignedRuns {
  std::vector<double> x;
  std::vector<std::vector<double>> runs;
};

/// Those with three rounds or more.
AlignedRuns align_runs(std::span<const GrowthSeries> runs);

std::vector<double> mean_series(const std::vector<std::vector<double>>& runs,
                                std::optional<std::size_t> without = std::nullopt);

/// A number that every run gives, and how sure its mean is.
struct OverRuns {
  double mean = 0;
  double error = 0;
  double freedom = 0;
  std::vector<double> values;  ///< of every run; `mean` is their mean

  /// Half of the interval with coverage 1 - alpha.
  [[nodiscard]] double width(double alpha) const;
  /// One-sided p of "the mean is not below zero".
  [[nodiscard]] double p_below() const;
};

OverRuns over_runs(std::vector<double> values);

/// The estimate of the mean series, with the jackknife's error. The value of a run is the estimate
/// plus what the run adds to it: of an estimate that is linear in the runs, the run's own.
OverRuns jackknife(const std::vector<std::vector<double>>& runs,
                   const std::function<double(std::span<const double>)>& estimate);

}  // namespace memduel
