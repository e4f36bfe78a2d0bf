// One row of the comparison before its family of rows is known: effect, margin and test. verdict.h
// decides it once the p-values of the family are adjusted.
#pragma once

#include <optional>
#include <string>

#include "analysis/statistics/shift_test.h"
#include "analysis/values/results.h"
#include "analysis/verdicts/growth_difference.h"
#include "analysis/verdicts/row_values.h"
#include "base/metric_catalogue.h"

namespace memduel {

/// What a row says by itself, before anything that makes the whole run doubtful.
struct Decision {
  Verdict verdict = Verdict::inconclusive;
  Tier tier = Tier::plain;
  std::string reason = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// Effects, margins and intervals are on the working scale: natural logarithms where `scale` says
/// so, else the metric's unit. A metric of the ratio scale falls back to differences when a value
/// is zero or negative.
struct MeasuredRow {
  Comparison comparison;  ///< identity, medians, effect and p_value filled
  MetricInfo metric;
  RowValues values;
  Scale scale = Scale::difference;
  bool exact = false;       ///< one distinct value in each arm: compared directly
  bool in_turns = true;     ///< the arms were measured in turns, not one after the other
  double effect = 0;        ///< Hodges-Lehmann shift; 0 without values
  double margin = 0;        ///< what unchanged and gates are held to
  double claim_margin = 0;  ///< what improved and regressed must reach: margin, or the noise floor
  int family = 1;           ///< gate rows that share the level
  int least_trials = kMinimumBlocks;  ///< of each arm, before the row's test can decide anything
  std::optional<ShiftTest> test;      ///< absent for exact rows and with too few blocks
  std::optional<GrowthDifference> growth;  ///< of growth metrics, which have no test of their own
  std::optional<double> mean_p;            ///< of equal means, where the design has a test of them
  std::optional<double> spread_p;          ///< of equal spreads, likewise; of gate rows only
  Decision decision;                       ///< see verdict.h
};

/// The larger of the two margins of a metric counts, but an amount never for more than this share
/// of the baseline: 1 MiB would be a quarter of a program of 4 MiB.
constexpr double kLargestAmountShare = 0.05;
/// ... but of the amount always so much, unless both arms have one value each: what does not vary
/// differs by as little as it does.
constexpr double kSmallestAmountShare = 1.0 / 16;

bool one_distinct_value(const std::vector<double>& values);

/// Trials with one and the same value that each arm needs to be compared directly: n of each differ
/// by chance, in a counter of two modes, in at most 2 * 4^-n, which must not exceed 5 % shared by
/// the gates.
int exact_trials(int gates);

/// `noise_floor` is the calibrated one, which raises what improved and regressed must reach: a
/// share for metrics of the ratio scale, else in the metric's unit. `family` is the number of gate
/// rows that share the level.
MeasuredRow measure_row(const MetricInfo& metric, RowValues values, Design design,
                        std::optional<double> noise_floor, int family = 1);

/// The same without effect and test, which take time with many values: medians, scale, margin.
MeasuredRow measure_values(const MetricInfo& metric, RowValues values);

/// Where the test took out the effect of places, from no change to the ends of the interval that is
/// shown: the rule asks at each shift that the test tries.
void set_removed_place(MeasuredRow& row, const Interval& interval);

/// Whether the row is of times that were not measured in turns, which the machine may have changed
/// from one session to the other.
bool may_be_drift(const MeasuredRow& row);

/// Absent for a NaN or an infinity.
std::optional<double> finite(double x);

/// The values of an arm on the row's working scale.
std::vector<double> on_scale(const std::vector<double>& values, Scale scale);

/// Values and places on the row's working scale; empty unless the design has places.
PlacedValues placed_on_scale(const MeasuredRow& row);

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
