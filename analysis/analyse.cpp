#include "analysis/analyse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/ablation.h"
#include "analysis/comparison.h"
#include "analysis/diagnostics.h"
#include "analysis/equivalence.h"
#include "analysis/experiment_view.h"
#include "analysis/gate_evaluation.h"
#include "analysis/growth_rows.h"
#include "analysis/lower_bounds.h"
#include "analysis/merge_runs.h"
#include "analysis/multiplicity.h"
#include "analysis/observations.h"
#include "analysis/perturbation.h"
#include "analysis/row_power.h"
#include "analysis/verdict.h"
#include "base/error.h"

namespace memduel {
namespace {

bool names(const Gate& gate, const std::string& role, const std::string& metric) {
  return (gate.role == "*" || gate.role == role) && gate.metric == metric;
}

/// Whether the row's p belongs to the corrected family.
bool is_gate_row(const std::vector<Gate>& gates, const std::string& role,
                 const std::string& metric) {
  return std::any_of(gates.begin(), gates.end(), [&](const Gate& gate) {
    return names(gate, role, metric) && !gate.advisory && has_relative_bound(gate);
  });
}

bool is_named(const std::vector<Gate>& gates, const std::string& role) {
  return std::any_of(gates.begin(), gates.end(),
                     [&](const Gate& gate) { return gate.role == role; });
}

/// Roles in the order of the trials; client_max, client_median and tree last. Single clients only
/// where a gate names them: with many clients their rows would bury the others.
std::vector<std::string> roles_to_compare(const RunData& run, const std::vector<Gate>& gates) {
  std::vector<std::string> roles;
  bool clients = false;
  bool tree = false;
  for (const TrialData& trial : run.trials) {
    for (const RoleData& role : trial.roles) {
      const bool client = is_client_role(role.role);
      clients = clients || client;
      tree = tree || role.role == "tree";
      const bool shown = role.role != "tree" && (!client || is_named(gates, role.role));
      if (shown && std::find(roles.begin(), roles.end(), role.role) == roles.end()) {
        roles.push_back(role.role);
      }
    }
  }
  if (clients) roles.insert(roles.end(), {"client_max", "client_median"});
  if (tree) roles.emplace_back("tree");
  return roles;
}

std::set<std::string> metrics_of(const ArmObservations& arm, const std::string& role) {
  std::set<std::string> metrics;
  for (const Observation& trial : arm.trials) {
    const auto at = trial.roles.find(role);
    if (at == trial.roles.end()) continue;
    for (const auto& [metric, value] : at->second) metrics.insert(metric);
  }
  return metrics;
}

bool any_alive(const ArmObservations& arm) {
  return std::any_of(arm.trials.begin(), arm.trials.end(),
                     [](const Observation& trial) { return trial.status == TrialStatus::ok; });
}

/// Everything one call of analyse() works on.
struct Work {
  const RunData& run;
  const AnalysisSettings& settings;
  ExperimentView view;
  std::vector<Gate> gates;
  std::vector<std::string> roles;
  Observations observations;
  double alpha = kAlpha;
  std::vector<MeasuredRow> rows;
  Results results;
};

std::optional<double> noise_floor(const AnalysisSettings& settings, const RoleMetric& row) {
  if (!settings.calibration) return std::nullopt;
  const auto at = settings.calibration->metrics.find(row);
  if (at == settings.calibration->metrics.end()) return std::nullopt;
  return at->second.noise_floor;
}

void note_one_sided(Work& work, const std::string& role, const std::set<std::string>& metrics,
                    const std::string& has, const std::string& lacks) {
  if (metrics.empty()) return;
  std::string list;
  for (const std::string& metric : metrics) list += (list.empty() ? "" : ", ") + metric;
  work.results.limitations.push_back(
      {"metric_in_one_arm_only",
       fmt::format("{} was measured for {} in arm {} but not in arm {}, so it is not compared",
                   list, role, has, lacks),
       "use the same meters and gauges in both arms"});
}

void measure_rows(Work& work, const ArmObservations& baseline, const ArmObservations& candidate) {
  const bool control = work.view.control_arms.contains(candidate.arm);
  for (const std::string& role : work.roles) {
    const std::set<std::string> of_a = metrics_of(baseline, role);
    const std::set<std::string> of_b = metrics_of(candidate, role);
    std::set<std::string> only_a;
    std::set<std::string> only_b;
    std::set_difference(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                        std::inserter(only_a, only_a.end()));
    std::set_difference(of_b.begin(), of_b.end(), of_a.begin(), of_a.end(),
                        std::inserter(only_b, only_b.end()));
    // A candidate that never lived has no metrics, and is worse in all of them.
    const bool compare_all = !any_alive(candidate);
    for (const std::string& metric : of_a) {
      if (!compare_all && only_a.contains(metric)) continue;
      const MetricInfo info = metric_info(metric);
      MeasuredRow row =
          measure_row(info, row_values(baseline, candidate, role, info, work.settings.design),
                      work.settings.design, noise_floor(work.settings, {role, metric}));
      row.comparison.baseline = baseline.arm;
      row.comparison.candidate = candidate.arm;
      row.comparison.role = role;
      row.comparison.gate = !control && is_gate_row(work.gates, role, metric);
      work.rows.push_back(std::move(row));
    }
    if (!compare_all) note_one_sided(work, role, only_a, baseline.arm, candidate.arm);
    if (any_alive(baseline)) note_one_sided(work, role, only_b, candidate.arm, baseline.arm);
  }
}

using Adjust = std::vector<double> (*)(std::span<const double>);

template <typename Belongs>
void decide_family(Work& work, Adjust adjust, Belongs belongs) {
  std::vector<double> p;
  for (const MeasuredRow& row : work.rows) {
    if (belongs(row) && row.test) p.push_back(*row.comparison.p_value);
  }
  const std::vector<double> adjusted = adjust(p);
  size_t next = 0;
  for (MeasuredRow& row : work.rows) {
    if (!belongs(row)) continue;
    if (row.test) row.comparison.p_adjusted = adjusted[next++];
    decide(row, work.alpha, static_cast<int>(p.size()));
    // Advisory rows are sized as if they stood alone: their correction depends on all the others.
    const int sharing = row.comparison.gate ? static_cast<int>(p.size()) : 1;
    add_power(row, work.settings.design, work.alpha, sharing, work.settings.seed);
  }
}

void decide_rows(Work& work) {
  const auto& controls = work.view.control_arms;
  const auto is_control = [&](const MeasuredRow& row) {
    return controls.contains(row.comparison.candidate);
  };
  const auto is_control_gate = [&](const MeasuredRow& row) {
    return is_control(row) && is_gate_row(work.gates, row.comparison.role, row.comparison.metric);
  };
  decide_family(work, holm, [&](const MeasuredRow& row) { return row.comparison.gate; });
  decide_family(work, holm, is_control_gate);
  decide_family(work, benjamini_hochberg, [&](const MeasuredRow& row) {
    return !row.comparison.gate && !is_control_gate(row);
  });
}

bool flagged(const Comparison& row) {
  return row.verdict == Verdict::improved || row.verdict == Verdict::regressed;
}

/// The first gate row in which the baseline's hidden twin seems to differ from it.
const Comparison* flagged_control(const Work& work) {
  for (const MeasuredRow& row : work.rows) {
    const Comparison& out = row.comparison;
    if (work.view.control_arms.contains(out.candidate) && flagged(out) &&
        is_gate_row(work.gates, out.role, out.metric)) {
      return &out;
    }
  }
  return nullptr;
}

/// Takes back every verdict; a candidate that failed stays failed.
void downgrade(Work& work, const std::string& why) {
  for (MeasuredRow& row : work.rows) {
    if (work.view.control_arms.contains(row.comparison.candidate)) continue;
    row.comparison.verdict = Verdict::inconclusive;
    row.comparison.tier = Tier::plain;
    row.comparison.reason = why + "; without that: " + row.comparison.reason;
  }
  for (GateResult& gate : work.results.gates) {
    if (gate.not_measured || gate.candidate_failed) continue;
    gate.outcome = GateOutcome::undecided;
    gate.reason = why + "; without that: " + gate.reason;
  }
}

void weigh_control(Work& work) {
  const Comparison* control = flagged_control(work);
  if (control == nullptr) return;
  const std::string why = "the run's own control differs from the baseline";
  work.results.warnings.push_back(
      {"control_flagged",
       fmt::format("{} ({}.{}: {}), so no verdict of this run is believed", why, control->role,
                   control->metric, control->reason),
       "look for what changed during the run, then repeat it on a quieter machine"});
  downgrade(work, why);
}

bool from_other_environment(const RunData& run) {
  return std::any_of(run.warnings.begin(), run.warnings.end(),
                     [](const Note& note) { return note.code == kOtherEnvironment; });
}

const Growth* growth_of(const Work& work, const std::string& arm, const Comparison& row) {
  for (const Growth& growth : work.results.growth) {
    if (growth.arm == arm && growth.role == row.role && growth.metric == row.metric) {
      return &growth;
    }
  }
  return nullptr;
}

/// Growth regressed only where the candidate grows, and improved only where the baseline did: a
/// memory that shrinks more slowly than another is no leak.
void weigh_growth(Work& work) {
  for (MeasuredRow& row : work.rows) {
    Comparison& out = row.comparison;
    if (!is_growth_metric(out.metric) || !flagged(out)) continue;
    const std::string& arm = out.verdict == Verdict::regressed ? out.candidate : out.baseline;
    const Growth* growth = growth_of(work, arm, out);
    if (growth == nullptr || (growth->ci_low && *growth->ci_low > 0)) continue;
    out.verdict = Verdict::inconclusive;
    out.tier = Tier::plain;
    out.reason += fmt::format("; but that {} grows at all is not shown", arm);
  }
}

void not_measured(Work& work, const Gate& gate, const std::string& candidate) {
  const bool alive = any_alive(work.observations.arms.front());
  if (gate.is_default && alive) {
    const Note note{"default_gate_not_measured",
                    fmt::format("{}.{} is a default gate but was not measured, so it is left out",
                                gate.role, gate.metric),
                    "see memduel list meters for what gives it, or name gates with --gate"};
    const auto& known = work.results.limitations;
    const bool said = std::any_of(known.begin(), known.end(), [&](const Note& other) {
      return other.code == note.code && other.message == note.message;
    });
    if (!said) work.results.limitations.push_back(note);
    return;
  }
  GateResult result;
  result.gate = gate.text;
  result.candidate = candidate;
  result.advisory = gate.advisory;
  result.not_measured = true;
  if (alive) {
    result.reason = fmt::format("not measured: no trial gave {} for {}", gate.metric, gate.role);
  } else if (work.observations.arms.front().trials.empty()) {
    result.reason = "not measured: no block was finished";
  } else {
    result.reason = "not measured: the baseline failed in every block";
  }
  work.results.gates.push_back(std::move(result));
}

void evaluate_gates(Work& work) {
  for (size_t arm = 1; arm < work.view.arms.size(); ++arm) {
    const std::string& candidate = work.view.arms[arm];
    if (work.view.control_arms.contains(candidate)) continue;
    if (work.view.ablation_arms.contains(candidate)) continue;
    for (const Gate& gate : work.gates) {
      bool found = false;
      for (const MeasuredRow& row : work.rows) {
        const Comparison& out = row.comparison;
        if (out.candidate != candidate || !names(gate, out.role, out.metric)) continue;
        found = true;
        GateResult result =
            evaluate_gate(gate, row, growth_of(work, out.candidate, out), work.alpha);
        if (gate.role == "*") result.reason = out.role + ": " + result.reason;
        work.results.gates.push_back(std::move(result));
      }
      if (!found) not_measured(work, gate, candidate);
    }
  }
}

void summarise_arms(Work& work) {
  for (size_t i = 0; i < work.view.arms.size(); ++i) {
    ArmSummary summary;
    summary.name = work.view.arms[i];
    const auto at = work.view.optimizations.find(summary.name);
    if (at != work.view.optimizations.end()) summary.optimizations = at->second;
    summary.model_sha256 = agreed_model(work.run, summary.name);
    summary.ablation = work.view.ablation_arms.contains(summary.name);
    for (const Observation& trial : work.observations.arms[i].trials) {
      ++(trial.status == TrialStatus::ok ? summary.trials_ok : summary.trials_failed);
    }
    work.results.arms.push_back(std::move(summary));
  }
}

void note_losses(Work& work) {
  auto& warnings = work.results.warnings;
  if (work.observations.dropped_blocks > 0) {
    warnings.push_back({"blocks_dropped",
                        fmt::format("{} blocks were left out because memduel itself failed in them",
                                    work.observations.dropped_blocks),
                        "see the failed trials' logs"});
  }
  if (work.observations.not_a_number > 0) {
    warnings.push_back({"not_a_number",
                        fmt::format("{} values were not a number and count as not measured",
                                    work.observations.not_a_number),
                        "look for the gauge that reports NaN"});
  }
  for (const ArmSummary& arm : work.results.arms) {
    if (arm.trials_failed == 0) continue;
    const auto first =
        std::find_if(work.run.trials.begin(), work.run.trials.end(), [&](const TrialData& trial) {
          return trial.arm == arm.name && trial.kind == TrialKind::measure &&
                 !trial.failure.empty();
        });
    warnings.push_back(
        {"trials_failed",
         fmt::format("{} of {} trials of arm {} failed{}", arm.trials_failed,
                     arm.trials_ok + arm.trials_failed, arm.name,
                     first == work.run.trials.end() ? "" : "; the first: " + first->failure),
         arm.name == work.view.baseline
             ? "blocks without a living baseline are left out of the comparison"
             : "a failed candidate counts as worse than any value"});
  }
}

std::vector<TrialData> without_series(const std::vector<TrialData>& trials) {
  std::vector<TrialData> kept = trials;
  for (TrialData& trial : kept) {
    for (RoleData& role : trial.roles) role.series.clear();
  }
  return kept;
}

int complete_blocks(const Observations& observations) {
  size_t least = observations.arms.front().trials.size();
  for (const ArmObservations& arm : observations.arms) least = std::min(least, arm.trials.size());
  return static_cast<int>(least);
}

std::vector<std::string> metric_names(const Work& work) {
  std::set<std::string> metrics;
  for (const ArmObservations& arm : work.observations.arms) {
    for (const std::string& role : work.roles) metrics.merge(metrics_of(arm, role));
  }
  return {metrics.begin(), metrics.end()};
}

/// The arms that are judged, without those that only take one of them apart.
Observations judged_arms(const Work& work) {
  Observations judged = work.observations;
  std::erase_if(judged.arms, [&](const ArmObservations& arm) {
    return work.view.ablation_arms.contains(arm.arm);
  });
  return judged;
}

void take_apart(Work& work) {
  Ablation ablation =
      ablate(work.run, work.view, ablation_metrics(work.gates, work.roles), work.settings);
  work.results.ablation = std::move(ablation.rows);
  work.results.ablation_totals = std::move(ablation.totals);
  for (Note& note : ablation.limitations) work.results.limitations.push_back(std::move(note));
}

Work prepare(const RunData& run, const AnalysisSettings& settings) {
  Work work{run, settings, view_experiment(run), settings.gates, {}, {}, kAlpha, {}, {}};
  if (work.gates.empty()) work.gates = default_gates(work.view.workload_kind);
  work.roles = roles_to_compare(run, work.gates);
  work.observations = observe(run, work.view.arms, settings.warmup_rounds);
  const CheckedLooks looks = planned_looks(run.config, settings);
  work.alpha = alpha_at(looks.looks, complete_blocks(work.observations));
  std::vector<std::string> role_names = work.roles;
  for (const TrialData& trial : run.trials) {
    for (const RoleData& role : trial.roles) role_names.push_back(role.role);
  }
  if (!run.trials.empty()) check_gate_names(work.gates, role_names, metric_names(work));
  Results& results = work.results;
  results.name = work.view.name;
  results.baseline = work.view.baseline;
  results.config_sha256 = run.config_sha256;
  results.environment = run.environment;
  results.limitations = run.limitations;
  results.limitations.insert(results.limitations.end(), looks.limitations.begin(),
                             looks.limitations.end());
  results.warnings = run.warnings;
  results.trials = without_series(run.trials);
  return work;
}

}  // namespace

Results analyse(const RunData& run, const AnalysisSettings& settings) {
  Work work = prepare(run, settings);
  const auto& arms = work.observations.arms;
  summarise_arms(work);
  note_losses(work);
  for (size_t i = 1; i < arms.size(); ++i) {
    if (!work.view.ablation_arms.contains(arms[i].arm)) measure_rows(work, arms.front(), arms[i]);
    work.results.equivalence.push_back(equivalence_of(run, arms.front(), arms[i]));
  }
  decide_rows(work);
  const Observations judged = judged_arms(work);
  for (Note& note : diagnose(judged, work.rows, run.environment)) {
    work.results.warnings.push_back(std::move(note));
  }
  work.results.growth = growth_rows(run, judged, work.roles, settings);
  weigh_growth(work);
  evaluate_gates(work);
  weigh_control(work);
  if (from_other_environment(run)) {
    downgrade(work, "the two sides were measured in different environments");
  }
  for (MeasuredRow& row : work.rows) work.results.comparisons.push_back(std::move(row.comparison));
  work.results.lower_bounds = lower_bounds(run.config, run.environment, work.observations);
  work.results.perturbation = perturbations(run);
  take_apart(work);
  return std::move(work.results);
}

bool may_end(const RunData& so_far, const AnalysisSettings& settings) {
  const ExperimentView view = view_experiment(so_far);
  const Observations observations = observe(so_far, view.arms, settings.warmup_rounds);
  const int blocks = complete_blocks(observations);
  const LookPlan looks = planned_looks(so_far.config, settings).looks;
  const bool at_look = std::any_of(looks.begin(), looks.end(),
                                   [&](const Look& look) { return look.blocks == blocks; });
  return at_look && settled(analyse(so_far, settings));
}

}  // namespace memduel
