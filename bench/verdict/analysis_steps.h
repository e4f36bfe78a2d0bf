// The steps of analyse(), in their order. Each makes a new value of what the steps before it made:
// what the run is asked, with its trials' values; the growth of each variant; rows with estimate
// and test; decided rows; judged gates; and what is said beside them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/experiment_view.h"
#include "model/run_data.h"
#include "verdict/analyse.h"
#include "verdict/comparison.h"
#include "verdict/gates.h"
#include "verdict/results.h"

namespace memduel {

/// What a run is asked, settled before any row is measured.
struct Inquiry {
  const RunData& run;
  const AnalysisSettings& settings;
  ExperimentView view;
  std::vector<Gate> gates;
  std::vector<std::string> roles;
  Observations observations;
  std::optional<RunOrder> order;  ///< of a restricted design
  double alpha = kAlpha;
  int gate_rows = 1;              ///< that share the level
  int least_trials = 1;           ///< of each variant, before a gate that changes alone is decided
  std::string pending;            ///< of a run that goes on: when the next planned look is
  std::vector<Note> limitations;  ///< known before any row, and so are
  std::vector<Note> warnings;
};

struct AskedGates {
  std::vector<Gate> gates;
  std::vector<Note> limitations;  ///< default gates do not ask for a sum that misleads
  std::vector<Note> warnings;     ///< somebody does
};

/// The gates of a run: those that were named, and the defaults where they are asked for.
AskedGates gates_to_judge(const RunData& run, const AnalysisSettings& settings);

/// The gates as they are judged: one that a config names may name what the run does not have.
/// Throws Error(usage) for one that no run of this kind can judge, and for names that it does not
/// have.
std::vector<Gate> checked_gates(std::vector<Gate> gates, const RunData& run,
                                const AnalysisSettings& settings, bool is_alone,
                                std::vector<std::string> roles,
                                const std::vector<std::string>& metrics);

/// The gates with the roles, values and levels that they are judged by. Throws as analyse() does.
Inquiry ask(const RunData& run, const AnalysisSettings& settings);

std::set<std::string> metrics_of(const ArmObservations& arm, const std::string& role);

/// Roles in the order of the trials; what stands for groups, and tree, last. Members of a group
/// only where a gate names them: with many their rows would bury the others.
std::vector<std::string> roles_to_compare(const RunData& run, const std::vector<Gate>& gates);

// Rows

struct MeasuredRows {
  std::vector<MeasuredRow> rows;
  std::vector<Note> limitations;  ///< metrics that one of the arms lacks
};

/// Every metric of every role that the baseline and a candidate both have.
MeasuredRows measure_rows(const Inquiry& inquiry, const std::vector<GrowthRow>& growth);

struct DecidedRows {
  std::vector<DecidedRow> rows;  ///< in the order in which they are told
  Doubts doubts;                 ///< that take back the verdicts of all but the control's rows
  std::optional<Note> warning;   ///< a hidden twin of the baseline seems to differ from it
};

/// Gate rows of one candidate are corrected by Westfall and Young over the same swaps of labels,
/// and by the number of candidates; those that lack trials by Holm, those of the baseline's hidden
/// twin by Holm among themselves, as are the times and the peaks of resident memory of
/// the reference role and of all processes, one per candidate; all others by Benjamini and
/// Hochberg.
DecidedRows decide_rows(std::vector<MeasuredRow> rows, const Inquiry& inquiry);

/// "too few trials: 3 of at least 5".
std::string too_few_blocks(int blocks, int needed);

/// Trials of each arm that a row without a test needs: fewer where its values may still turn out
/// identical.
int trials_needed(const MeasuredRow& row);

/// Of each candidate, which keep their order: exact rows that changed, then gates, then the rest.
void put_in_telling_order(std::vector<DecidedRow>& rows);

// Gates

struct JudgedGates {
  std::vector<GateResult> results;
  std::vector<Note> limitations;  ///< default gates that nothing measured
};

/// Each gate on every variant and role that it judges. One that names a role or a metric which
/// nothing measured is a result, too; of `*` each role that has the metric is one. Where a run has
/// one variant, that one is judged.
JudgedGates judge_gates(const Inquiry& inquiry, const DecidedRows& decided,
                        const std::vector<GrowthRow>& growth);

// Beside the rows

/// What weakens the claims, found in the run's own numbers; each with advice. Flags, never deletes.
/// For the gate rows: drift over the session (runs test and Ljung-Box test on the residuals in the
/// order of the trials, at the 1% level), an effect of the place among neighbours (t test of
/// second minus first at the same level), several modes, and a first trial far from the others
/// (modified z above 3.5; Iglewicz and Hoaglin 1993). For the run: swapping, stolen CPU time
/// (environment.cpu_steal_ratio above 1%) and other programs at the start
/// (environment.cpu_busy_ratio above a quarter; in older runs environment.load above a quarter of
/// environment.cores). @param observations of the judged variants.
std::vector<Note> diagnose(const Observations& observations, const std::vector<DecidedRow>& rows,
                           const JobFacts& job, const nlohmann::json& environment);

/// p of "the values come in random order": the smaller of the runs test's and the Ljung-Box test's,
/// doubled. 1 for fewer than ten values or fewer than three distinct ones.
double order_p(const std::vector<double>& in_order);

/// How much a tracer changed what it looked at: one entry per tracer and arm that has profile
/// trials and measure trials that lived; ratios of medians. Tracers stand in the order of their
/// first trial.
std::vector<Perturbation> perturbations(const RunData& run);

/// The hash of the arm's final model when its measure trials that ended well agree on one.
std::optional<std::string> agreed_model(const RunData& run, const std::string& arm);

/// Whether the arms still compute the same thing: from the compared models where there are any,
/// else from the hashes, else from the files that trials left; quality metrics (accuracies, losses,
/// other ratios, and of commands what they print under a name of their own) as medians over trials,
/// from the first role that has them in both arms.
Equivalence equivalence_of(const RunData& run, const ArmObservations& baseline,
                           const ArmObservations& candidate);

/// The sizes from which lower bounds follow, in bytes.
struct ModelSizes {
  double state = 0;
  double parameters = 0;
};

/// The model's sizes as the run's environment holds them ("model": state_bytes, parameters);
/// absent for a workload without a model of ours.
std::optional<ModelSizes> model_sizes(const nlohmann::json& environment);

/// What a role must hold at once, whatever the program does: the job says how often it holds the
/// model's parameters (JobFacts::held_models). docs/lower-bounds.md derives it and states what it
/// assumes. Without multiples.
std::vector<LowerBound> bounds_of(const JobFacts& job, const ModelSizes& model);

/// The same with each arm's multiple: the median over its trials that lived, over the bound. Bounds
/// that no arm was measured against are left out.
std::vector<LowerBound> lower_bounds(const RunData& run, const Observations& observations);

/// A warning for each arm whose peak lies below its bound, which nothing can: the peak was measured
/// from an idle level that is too high.
std::vector<Note> doubts_of_bounds(const std::vector<LowerBound>& bounds);

struct Ablation {
  std::vector<AblationRow> rows;      ///< by role, metric and phase; largest effect first
  std::vector<AblationTotal> totals;  ///< one for each role, metric and phase of `rows`
  std::vector<Note> limitations;
};

/// What an ablation looks at: the metrics of `gates`, the peak above idle of the reference role and
/// of each group's largest, the reference role's times per round. Roles of `*` are those in
/// `roles`.
std::vector<RoleMetric> ablation_metrics(const std::vector<Gate>& gates,
                                         const std::vector<std::string>& roles,
                                         const JobFacts& job);

/// The ablation that the run's config asks for; empty where it asks for none.
/// @param metrics of whole trials; for their roles the peak of every phase is added.
Ablation ablate(const Inquiry& inquiry, const std::vector<RoleMetric>& metrics);

/// The name under which `metric` of a phase stands in phase_peaks.
std::string phase_metric(const std::string& phase, const std::string& metric);

/// The run with one metric per role for every phase, so that phases are compared as trials are: the
/// largest peak of the phase over its rounds, peak_rss_above_idle_bytes where the role has an idle
/// level, else peak_rss_bytes. Rounds and all other metrics are left out.
RunData phase_peaks(const RunData& run);

}  // namespace memduel
