// One row of the comparison before its family of rows is known: effect, margin and test. verdict.h
// decides it once the p-values of the family are adjusted.
#pragma once

#include <optional>
#include <string>

#include "analysis/metrics.h"
#include "analysis/results.h"
#include "analysis/row_values.h"
#include "analysis/shift_test.h"

namespace memduel {

/// Effects, margins and intervals are on the working scale: natural logarithms where `scale` says
/// so, else the metric's unit. A metric of the ratio scale falls back to differences when a value
/// is zero or negative.
struct MeasuredRow {
  Comparison comparison;  ///< identity, medians, effect and p_value filled
  MetricInfo metric;
  RowValues values;
  Scale scale = Scale::difference;
  bool exact = false;  ///< one distinct value in each arm: compared directly
  double effect = 0;   ///< Hodges-Lehmann shift; 0 without values
  double margin = 0;
  std::optional<ShiftTest> test;  ///< absent for exact rows and with too few blocks
};

/// `noise_floor` is the calibrated one, which raises the margin: a share for metrics of the ratio
/// scale, else in the metric's unit.
MeasuredRow measure_row(const MetricInfo& metric, RowValues values, Design design,
                        std::optional<double> noise_floor);

/// Absent for a NaN or an infinity.
std::optional<double> finite(double x);

/// The values of an arm on the row's working scale.
std::vector<double> on_scale(const std::vector<double>& values, Scale scale);

/// A share of the baseline's median, or an amount in the metric's unit, on the row's working scale.
double share_on_scale(const MeasuredRow& row, double share);
double amount_on_scale(const MeasuredRow& row, double amount);

/// An end of an interval as it is written down: a ratio or a difference, absent when unbounded.
std::optional<double> shown(const MeasuredRow& row, double on_scale);

/// For people: "+2.0 %", "-12.0 KiB/round".
std::string describe_effect(const MeasuredRow& row, double on_scale);
std::string describe_interval(const MeasuredRow& row, const Interval& interval);
/// Without a sign: "1 %", "64.0 KiB/round".
std::string describe_size(const MeasuredRow& row, double on_scale);

}  // namespace memduel
