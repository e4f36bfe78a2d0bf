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
// test. decide() of gates.h makes the row that is shown of it. A row of growth has the difference
// of two variants' slopes: Welch's t, one slope a trial.
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
/// arms. The first max(warmup_rounds, 2, 20%) rounds do not count for growth, the first
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
  std::string failure;                  ///< of the first failed candidate
};

/// @param order of a restricted design; null where its superblocks stand by themselves.
RowValues row_values(const ArmObservations& baseline, const ArmObservations& candidate,
                     const std::string& role, const MetricInfo& metric, Design design,
                     const RunOrder* order = nullptr);

/// What a row of growth takes from the judgements of its two variants.
struct GrowthDifference {
  SlopeDifference difference;
  double baseline_slope = 0;
  double candidate_slope = 0;
  double margin = 0;
  GrowthVerdict baseline = GrowthVerdict::inconclusive;
  GrowthVerdict candidate = GrowthVerdict::inconclusive;
  std::string reason;
};

/// Absent where one of the two has no slope.
std::optional<GrowthDifference> growth_difference(const GrowthEstimate& baseline,
                                                  const GrowthEstimate& candidate);

/// The scale on which a row's effects, margins and intervals are: natural logarithms, or the
/// metric's unit.
struct RowScale {
  std::string metric;
  Scale kind = Scale::difference;
  std::optional<double> typical;  ///< the baseline's median

  [[nodiscard]] std::vector<double> of(std::vector<double> values) const;
  /// A share of what is typical, or an amount in the metric's unit.
  [[nodiscard]] double share(double share) const;
  [[nodiscard]] double amount(double amount) const;
  /// As it is written down: a ratio or a difference, absent when unbounded.
  [[nodiscard]] std::optional<double> shown(double on_scale) const;
  /// For people: "+2.0%", "-12.0 KiB/round".
  [[nodiscard]] std::string describe_effect(double on_scale) const;
  [[nodiscard]] std::string describe_interval(const Interval& interval) const;
  /// Without a sign: "1%", "64.0 KiB/round".
  [[nodiscard]] std::string describe_size(double on_scale) const;
};

/// A metric of the ratio scale falls back to differences when a value is zero or negative.
RowScale scale_of(const MetricInfo& metric, const RowValues& values);

/// What counts as no change, on the row's scale. The larger of the two margins of a metric counts,
/// but an amount never for more than kLargestAmountShare of the baseline: 1 MiB would be a quarter
/// of a program of 4 MiB.
double margin_of(const MetricInfo& metric, const RowScale& scale, bool exact = false);

constexpr double kLargestAmountShare = 0.05;
/// ... but of the amount always so much, unless both arms have one value each: what does not vary
/// differs by as little as it does.
constexpr double kSmallestAmountShare = 1.0 / 16;

/// What a row compares, and what is asked of it.
struct RowQuestion {
  MetricInfo metric;
  Design design = Design::paired;
  /// The calibrated one, which raises what improved and regressed must reach: a share for metrics
  /// of the ratio scale, else in the metric's unit.
  std::optional<double> noise_floor = std::nullopt;
  int family = 1;        ///< gate rows that share the level
  int least_trials = 1;  ///< of each arm, before a gate of the run that changes alone is decided
  std::string baseline = {};   // NOLINT(readability-redundant-member-init): -Wextra
  std::string candidate = {};  // NOLINT(readability-redundant-member-init): -Wextra
  std::string role = {};       // NOLINT(readability-redundant-member-init): -Wextra
  bool gate = false;           ///< a gate that decides asks how it changed
  bool advisory_gate = false;  ///< one that does not
};

/// Complete when made, and decided by decide() of gates.h.
struct MeasuredRow {
  RowQuestion question = {};
  RowValues values = {};
  RowScale scale = {};
  std::optional<double> candidate_median = std::nullopt;
  bool exact = false;  ///< one distinct value in each arm: compared directly
  bool apart = false;  ///< no value of one side lies between values of the other
  double effect = 0;   ///< Hodges-Lehmann shift; 0 without values
  std::optional<double> difference = std::nullopt;  ///< the same in the metric's unit
  double margin = 0;                                ///< what unchanged and gates are held to
  double claim_margin = 0;  ///< what improved and regressed must reach: margin, or noise floor
  int least_trials = kMinimumBlocks;  ///< of each arm, before the row's test can decide anything
  std::optional<ShiftTest> test = std::nullopt;  ///< absent for exact rows and with too few blocks
  std::optional<GrowthDifference> growth =
      std::nullopt;  ///< of growth metrics, which have no test of their own
  std::optional<double> p_value = std::nullopt;
  std::optional<double> mean_p =
      std::nullopt;  ///< of equal means, where the design has a test of them
  std::optional<double> spread_p = std::nullopt;  ///< of equal spreads, likewise; of gate rows only

  /// Values of each side.
  [[nodiscard]] int baselines() const { return static_cast<int>(values.baseline.size()); }
  [[nodiscard]] int candidates() const { return static_cast<int>(values.candidate.size()); }
  /// Of times that were not measured in turns, which the machine may have changed from one session
  /// to the other.
  [[nodiscard]] bool may_be_drift() const {
    return question.design == Design::unpaired && question.metric.unit == Unit::seconds;
  }
  /// Of the effect, on the row's scale; of a row that has a test or is one of growth.
  [[nodiscard]] Interval interval(double alpha) const {
    return growth ? growth->difference.interval(alpha) : test->interval(alpha);
  }
  /// The name of what p_value is of; empty without one.
  [[nodiscard]] std::string method() const {
    return !p_value ? "" : growth ? kWelch : test->name();
  }
};

/// @param growth of a growth metric that was judged: effect, medians, margin and p are those of the
/// slopes.
MeasuredRow measure_row(RowQuestion question, RowValues values,
                        std::optional<GrowthDifference> growth = std::nullopt);

bool one_distinct_value(const std::vector<double>& values);

/// Trials with one and the same value that each arm needs to be compared directly: n of each differ
/// by chance, in a counter of two modes, in at most 2 * 4^-n, which must not exceed 5% shared by
/// the gates.
int exact_trials(int gates);

/// Absent for a NaN or an infinity.
std::optional<double> finite(double x);

}  // namespace memduel
