// How rows and gates are decided: the grammar of a gate, ROLE.METRIC<=BOUND[|BOUND][:advisory], as
// people write it with --gate and in a config; the verdict of a row, the doubts that take the
// verdicts of a whole run back, the outcome of a gate, and the answer to a whole run.
//
// The rule of decide(), which turns a measured row into improved, regressed, unchanged or
// inconclusive. unchanged: the interval of confidence 1 - 2 alpha lies inside the margin (two
// one-sided tests: Schuirmann, J. Pharmacokin. Biopharm. 15, 1987). improved, regressed: the
// corrected p is at most alpha, and the estimate reaches the margin, or the noise floor where that
// is larger, on the side on which the interval lies; strong when the whole interval at the row's
// own level clears it and the mean moved too (mean_p), or no values of the arms overlap. Rows of
// growth follow the judgement of stats/growth.h. Everything else is inconclusive, with the reason.
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
  enum class Kind {
    share,    ///< +2%: relative to the baseline, value 0.02
    amount,   ///< +64MiB: above the baseline, in the metric's unit
    ceiling,  ///< 900MiB: on the candidate alone, in the metric's unit
  };
  Kind kind = Kind::share;
  double value = 0;
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
void check_gates_before_run(const std::vector<Gate>& gates, const std::vector<std::string>& roles,
                            const JobFacts& job);

/// Why no verdict of a run counts; empty where they do.
struct Doubts {
  std::vector<std::string> reasons;  ///< the verdict that they take back is told beside them
  std::string pending;  ///< of a run that still goes on: a look that the plan does not have spends
                        ///< no error rate, so that what it sees is not told

  [[nodiscard]] bool any() const { return !reasons.empty() || !pending.empty(); }
  /// Of a row or gate that would have the verdict of `reason` without them.
  [[nodiscard]] std::string explain(std::string reason) const;
};

/// The growth of `arm` that the row is about; nullptr where it was not judged.
const Growth* growth_of(const std::vector<Growth>& growth, const std::string& arm,
                        const std::string& role, const std::string& metric);

/// A warning that names the first gate row in which a hidden twin of the baseline (one of
/// `controls`) seems to differ from it; absent where none does.
std::optional<Note> flagged_control(const std::vector<MeasuredRow>& rows,
                                    const std::set<std::string>& controls,
                                    const std::vector<Gate>& gates);

/// "cannot tell: 3 of 5 blocks".
std::string too_few_blocks(int blocks, int needed);

/// Trials of each arm that a row without a test needs: fewer where its values may still turn out
/// identical.
int trials_needed(const MeasuredRow& row);

/// Fills interval and decision, and tells the decision as the comparison's verdict, tier and
/// reason. comparison.p_adjusted must be set where the row has a test; `family` is the number of
/// rows it was adjusted for.
/// With doubts the row is inconclusive.
void decide(MeasuredRow& row, double alpha, int family, const Doubts& doubts = {});

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

/// Whether the sum is among these.
bool ask_for_the_sum(const std::vector<Gate>& gates);

/// The same of the job that ran: how far the sum is from what it holds is known then.
std::vector<Gate> default_gates(const RunData& run);

/// One role of one variant, as a gate judges it.
struct GateSubject {
  std::string candidate;
  std::string role;
  std::vector<double> values;        ///< of the variant's trials that ended well
  int failed = 0;                    ///< trials of the variant that did not
  std::string failure;               ///< of the first of them
  const MeasuredRow* row = nullptr;  ///< against the baseline; null where nothing is compared
  const Growth* growth = nullptr;    ///< the variant's own, of a growth metric
  std::string why_no_row;            ///< why nothing is compared, after "not measured: "
  bool is_whole_run = false;         ///< a watched job: its one trial is all there is to judge
};

/// The candidate of a row, decided.
GateSubject subject_of(const MeasuredRow& row, const Growth* growth = nullptr);

struct GateRules {
  double alpha = 0.05;
  bool strict = false;
  OnInconclusive on_inconclusive = OnInconclusive::beyond;
  Doubts doubts = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// `gate.role` is not read: the subject's is the one that is judged.
GateResult evaluate_gate(const Gate& gate, const GateSubject& subject, const GateRules& rules = {});

/// A gate that nothing measured, with the reason after "not measured: ".
GateResult unmeasured_gate(const Gate& gate, const std::string& candidate, const std::string& why);

/// All gates of a run, each on every variant and role that it judges.
struct RunGates {
  const RunData& run;
  const ExperimentView& view;
  const Observations& observations;
  const std::vector<Gate>& gates;
  const std::vector<std::string>& roles;
  const std::vector<MeasuredRow>& rows;  ///< decided
  const std::vector<Growth>& growth;
  GateRules rules;
  bool default_gates_decide = true;
  bool default_gates_are_named = false;  ///< by the word "default": one has to be judged
};

struct JudgedGates {
  std::vector<GateResult> results;
  std::vector<Note> limitations;  ///< default gates that nothing measured
};

/// A gate that names a role or a metric which nothing measured is a result, too; of `*` each role
/// that has the metric is one. Where a run has one variant, that one is judged.
JudgedGates judge_gates(const RunGates& all);

/// The variants that gates judge: every candidate that is no control and takes none apart, or the
/// only variant.
std::vector<std::string> judged_variants(const ExperimentView& view);

/// Throws Error(usage) for a gate that no run of this kind can judge: a bound relative to a
/// baseline where one variant is alone, and one on times of two runs that were not interleaved,
/// which get no verdict.
void refuse_unjudgeable(const std::vector<Gate>& gates, bool is_alone, bool is_interleaved);

/// The answer to a whole run, from its rows and gates.
/// A failed gate comes first, then one that could not be measured, then an inconclusive one. A run
/// in which one of `judged` or the baseline never ended well, or whose variants have nothing in
/// common, measured nothing.
Overall overall_of(const Results& results, const std::vector<std::string>& judged);

}  // namespace memduel
