// From a run's trials to the rows that compare two variants.
//
// Observations: a run as the statistics see it, one number per trial, role and metric, with the
// roles and metrics that are derived from what was measured. Derived roles: NAME_max and
// NAME_median over the members of each group in a trial, round by round for rounds and value by
// value for metrics; a value that one member lacks is absent. Idle and peak above idle of NAME_max
// are of the member with the largest peak, so that their sum is the peak; those of NAME_median are
// idle's median and the difference from the peak's. Derived metrics: the growth of end_rss_bytes
// per round and per minute (Theil-Sen after warm-up), of a role that ends no rounds that of its
// samples per minute, and for a metric that is only known per round its maximum (peaks), sum
// (counts, CPU time), median (round_seconds and other durations) or last value (all others).
//
// MeasuredRow: one row of the comparison before its family of rows is known: effect, margin and
// test. gates.h decides it once the p-values of the family are adjusted. A row of growth has the
// difference of two variants' slopes: Welch's t, one slope a trial.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/metric_catalogue.h"
#include "model/run_data.h"
#include "model/watch_snapshot.h"
#include "stats/growth.h"
#include "stats/hypothesis_tests.h"
#include "stats/samples.h"
#include "stats/trial_order.h"
#include "verdict/results.h"

namespace memduel {

struct Observation {
  std::int64_t trial_id = 0;
  int block = 0;
  int position = 0;
  TrialStatus status = TrialStatus::ok;
  std::string failure;
  std::map<std::string, Metrics> roles;
  std::map<std::string, std::vector<RoundEnd>> round_ends;  ///< rounds that have end_rss_bytes
  /// Of roles without such rounds: see trial_growth.h.
  std::map<std::string, std::vector<RoundEnd>> time_windows;
};

struct ArmObservations {
  std::string arm;
  std::vector<Observation> trials;  ///< measure trials of whole blocks, ascending in block
};

struct Observations {
  std::vector<ArmObservations> arms;  ///< in the order asked for
  int dropped_blocks = 0;             ///< left out because of a fault of the harness
  int not_a_number = 0;               ///< values that were NaN and so count as absent
};

/// The arm's trials; nullptr when `observations` has no such arm.
const ArmObservations* find_arm(const Observations& observations, const std::string& name);

/// Whether one of its trials came to its end.
bool any_alive(const ArmObservations& arm);

/// Absent where the trial has no such role, or the role no such metric.
std::optional<double> value_of(const Observation& trial, const std::string& role,
                               const std::string& metric);

/// Of its trials that are ok and have the metric, in the order of the blocks.
std::vector<double> values_of(const ArmObservations& arm, const std::string& role,
                              const std::string& metric);

/// Measure trials of `arms`; a block with a harness fault or a dropped trial is left out for all
/// arms. The first max(warmup_rounds, 2, 20 %) rounds do not count for growth, the first
/// warmup_rounds not for the medians of durations.
Observations observe(const std::vector<TrialData>& trials, const JobFacts& job,
                     const std::vector<std::string>& arms, int warmup_rounds);
inline Observations observe(const RunData& run, const std::vector<std::string>& arms,
                            int warmup_rounds) {
  return observe(run.trials, run.job, arms, warmup_rounds);
}

/// Whether a process has a round after those of warm-up, or is one round as a whole. One that has
/// not gets no metric by the round.
bool has_rounds_to_judge(const RoleData& role, int warmup_rounds);

/// Whether so many rounds leave the three that a slope needs.
bool has_slope(size_t rounds, int warmup_rounds);

/// The superblock, two blocks each, to which a measure block (1, 2, …) belongs.
constexpr int superblock_of(int block) {
  return (block - 1) / 2;
}

/// The order in which a run's trials were to run, known from its config.
struct RunOrder {
  OrderPlan plan;
  std::vector<std::string> arms;  ///< by number
  std::vector<Segment> segments;  ///< the plan's, then those of blocks beyond it

  [[nodiscard]] ArmPair pair(const std::string& baseline, const std::string& candidate) const;
};

/// Absent where the order is not restricted, or not that of the trials: then each superblock stands
/// by itself.
std::optional<RunOrder> run_order(const RunData& run);

/// How the labels of two arms could have been dealt to the blocks, segment by segment.
std::vector<PairDeals> pair_deals(const RunOrder& order, const ArmPair& pair,
                                  const std::set<int>& blocks);

/// The numbers of one row: a metric of a role in two arms.
/// Blocks in which the baseline failed are left out; a candidate that failed where the baseline
/// lived is an infinity on the bad side, so that it is worse than any value and never dropped.
struct RowValues {
  std::vector<double> baseline;
  std::vector<double> candidate;  ///< candidate[i] ran in baseline[i]'s block when paired
  PlacedValues placed;            ///< both arms' values; empty unless the design has places
  int candidate_failed = 0;
  int candidate_killed_for_memory = 0;  ///< among candidate_failed
  int baseline_failed = 0;
  int incomplete = 0;   ///< blocks in which a living trial had no value for this metric
  std::string failure;  ///< of the first failed candidate
};

/// @param order of a restricted design; null where its superblocks stand by themselves.
RowValues row_values(const ArmObservations& baseline, const ArmObservations& candidate,
                     const std::string& role, const MetricInfo& metric, Design design,
                     const RunOrder* order = nullptr);

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
  Decision decision;                       ///< see decide() of gates.h
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

/// smallest_detectable and blocks_needed of a decided row.
/// `family` is the number of rows that share the level. Exact rows detect any change; rows with
/// fewer than five blocks and rows with failed candidates get no number.
void add_power(MeasuredRow& row, Design design, double alpha, int family, unsigned long seed);

}  // namespace memduel
