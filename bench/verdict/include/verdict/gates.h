// How rows and gates are decided: the grammar of a gate, ROLE.METRIC<=BOUND[|BOUND][:advisory], as
// people write it with --gate and in a config; the verdict of a row, the doubts that take the
// verdicts of a whole run back, the outcome of a gate, and the answer to a whole run.
//
// The rule of decide(), which makes of a measured row the one that is shown: improved, regressed,
// unchanged or inconclusive. unchanged: the interval of confidence 1 - 2 alpha lies inside the
// margin (two one-sided tests: Schuirmann, J. Pharmacokin. Biopharm. 15, 1987). improved,
// regressed: the corrected p is at most alpha, and the estimate reaches the margin, or the noise
// floor where that is larger, on the side on which the interval lies; strong when the whole
// interval at the row's own level clears it and the mean moved too (mean_p), or no values of the
// arms overlap. Rows of growth follow the judgement of stats/growth.h. Everything else is
// inconclusive, with the reason.
//
// The rule of evaluate_gate(). Nothing decides a gate again: exit code, reports and exports read
// the GateResult. A bound relative to the baseline passes when the one-sided confidence limit of
// the change stays within it. It fails in two ways: the worsening is shown to be beyond the bound
// (the limit on the other side is), or it is real (corrected p at most alpha) and estimated beyond
// the bound; strict gates fail in the first way alone. A ceiling needs no baseline: it fails with
// the first trial above it. Anything else is undecided. A candidate that failed where the baseline
// lived fails its gates. Of several bounds one is enough. A bound on growth passes for a candidate
// whose memory is bounded and fails only for one that grows: to shrink less than the baseline is no
// growth.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/experiment_view.h"
#include "model/job_facts.h"
#include "model/metric_catalogue.h"
#include "model/run_data.h"
#include "stats/growth.h"
#include "verdict/comparison.h"
#include "verdict/results.h"

namespace memduel {

/// One bound; a gate with several holds when any of them holds.
struct Bound {
  /// Of what it is a limit: of the change against the baseline, as a ratio or a difference, or of
  /// the candidate's own value (a ceiling).
  GateQuantity of = GateQuantity::ratio;
  /// A share of the baseline: 0.02 for +2%; else in the metric's unit. What may become worse; below
  /// 0 what has to become better.
  double value = 0;

  [[nodiscard]] bool is_ceiling() const { return of == GateQuantity::value; }
  [[nodiscard]] bool asks_for_improvement() const { return value < 0; }
};

/// The bound of default gates: what counts as no change of the metric (docs/method.md).
inline constexpr const char* kMarginBound = "margin";

struct Gate {
  std::string text;  ///< as written
  std::string role;  ///< `*` is every role that has the metric
  std::string metric;
  std::vector<Bound> bounds;  ///< empty: the margin of the row is its bound
  bool advisory = false;
  bool is_default = false;  ///< left out with a limitation when nothing measured the metric
  /// Why it is not judged: what it names does not exist.
  std::string unjudged = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// Which inconclusive gates make the exit code ExitCode::inconclusive.
enum class OnInconclusive {
  beyond,  ///< those whose estimate is beyond the bound
  pass,    ///< none
  fail     ///< all
};

/// Whether the gate is about this metric of this role.
bool asks_about(const Gate& gate, const std::string& role, const std::string& metric);

/// Whether the gate compares with the baseline, so that its row needs a test.
bool has_relative_bound(const Gate& gate);

/// Whether a bound of the gate is on the candidate alone.
bool has_ceiling(const Gate& gate);

/// Both of the first two.
bool asks_for_change(const Gate& gate, const std::string& role, const std::string& metric);

/// Whether the row's p belongs to the family that is corrected for the gates.
bool is_gate_row(const std::vector<Gate>& gates, const std::string& role,
                 const std::string& metric);

/// Throws Error(usage) that shows the place: a missing part, a bound without a unit or with another
/// metric's unit, % on a growth metric, a ceiling on a metric of the table where more is better. A
/// name that the table does not have may be a metric of the job's own: its bounds take the unit in
/// its name, or none.
Gate parse_gate(std::string_view text);

/// Throws Error(usage) naming the nearest role or metric when a gate names one that neither the
/// table nor the run has, and for a bound that needs another direction than `job` declares of its
/// metric: what is allowed above the baseline says nothing where it is undeclared.
void check_gate_names(const std::vector<Gate>& gates, const std::vector<std::string>& roles,
                      const std::vector<std::string>& metrics, const JobFacts& job);

/// What of it can be known before the first trial: a metric that no name of the table resembles may
/// come from a mark, and so may its direction, unless it is one that the job's config knows.
/// @param are_all_roles false: a role that no other resembles may be a benchmark of Google
/// Benchmark.
void check_gates_before_run(const std::vector<Gate>& gates, const std::vector<std::string>& roles,
                            const JobFacts& job, bool are_all_roles);

/// Why no verdict of a run counts; empty where they do.
struct Doubts {
  std::vector<std::string> reasons;  ///< the verdict that they take back is told beside them
  std::string pending;  ///< of a run that still goes on: a look that the plan does not have spends
                        ///< no error rate, so that what it sees is not told

  [[nodiscard]] bool any() const { return !reasons.empty() || !pending.empty(); }
  /// Of a row or gate that would have the verdict of `reason` without them.
  [[nodiscard]] std::string explain(std::string reason) const;
};

/// At which level a row is decided, among the rows that share it.
struct RowLevel {
  double alpha = kAlpha;
  int family = 1;  ///< rows that p_adjusted is corrected for
  std::optional<double> p_adjusted = std::nullopt;
  const char* correction = "";  ///< that p_adjusted is by
};

/// What a row says by itself, before anything that makes the whole run doubtful, with the numbers
/// that it rests on.
struct Decision {
  Verdict verdict = Verdict::inconclusive;
  Tier tier = Tier::plain;
  std::string reason = {};  // NOLINT(readability-redundant-member-init): -Wextra
  Interval interval = {};   ///< that decided, on the row's scale
  double confidence = 0.95;
  std::optional<RemovedPlace> removed_place = std::nullopt;
  std::optional<int> blocks_needed = std::nullopt;
};

/// Of a row that is told what size of change its noise lets it find.
struct PowerQuestion {
  int sharing = 1;  ///< rows that share the level
  unsigned long seed = 1;
};

struct DecidedRow {
  MeasuredRow measured;
  Decision decision;
  Comparison comparison;  ///< as it is shown: with doubts the row is inconclusive
};

/// The rule above. `level.p_adjusted` must be set where the row has a test. Exact rows detect any
/// change; rows with fewer than five blocks and rows with failed candidates get no number for
/// `power`.
DecidedRow decide(MeasuredRow row, const RowLevel& level, const Doubts& doubts = {},
                  std::optional<PowerQuestion> power = std::nullopt);

/// The gates that apply when nobody named one.
/// Each row's own margin is its bound.
std::vector<Gate> default_gates(const JobFacts& job);

/// The sum of a job's resident sets counts a page once for each process that has it, and not at all
/// where none has: files in a tmpfs, shared memory that nobody maps.
struct MisleadingSum {
  enum class How { counts_again, leaves_out };
  How how;
  double bytes = 0;  ///< the most of any arm
  RoleMetric asked;  ///< in its place
};

/// Absent where no arm's sum is far from what the job holds, or nothing measured that.
std::optional<MisleadingSum> misleading_sum(const RunData& run);

/// The same of the job that ran: how far the sum is from what it holds is known then.
std::vector<Gate> default_gates(const RunData& run);

/// One role of one variant, as a gate judges it.
struct GateSubject {
  std::string candidate;
  std::string role;
  std::vector<double> values;       ///< of the variant's trials that ended well
  int failed = 0;                   ///< trials of the variant that did not
  std::string failure;              ///< of the first of them
  const DecidedRow* row = nullptr;  ///< against the baseline; null where nothing is compared
  const Growth* growth = nullptr;   ///< the variant's own, of a growth metric
  std::string why_no_row;           ///< why nothing is compared, after "not measured: "
  bool is_whole_run = false;        ///< a watched job: its one trial is all there is to judge
};

/// The candidate of a row.
GateSubject subject_of(const DecidedRow& row, const Growth* growth = nullptr);

struct GateRules {
  double alpha = 0.05;
  bool strict = false;
  OnInconclusive on_inconclusive = OnInconclusive::beyond;
  Doubts doubts = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// `gate.role` is not read: the subject's is the one that is judged.
GateResult evaluate_gate(const Gate& gate, const GateSubject& subject, const GateRules& rules = {});

/// The variants that gates judge: every candidate that is no control and takes none apart, or the
/// only variant.
std::vector<std::string> judged_variants(const ExperimentView& view);

/// Throws Error(usage) for a gate that no run of this kind can judge: a bound relative to a
/// baseline where one variant is alone, and one on times of two runs that were not interleaved,
/// which get no verdict.
void refuse_unjudgeable(const std::vector<Gate>& gates, bool is_alone, bool is_interleaved);

/// Throws Error(usage) if the run has one variant, which default gates cannot judge.
void refuse_default_gates_alone(bool is_alone);

/// The answer to a whole run, from its rows and gates.
/// A failed gate comes first, then one that could not be measured, then an inconclusive one. A run
/// in which one of `judged` or the baseline never ended well, or whose variants have nothing in
/// common, measured nothing.
Overall overall_of(const Results& results, const std::vector<std::string>& judged);

}  // namespace memduel
