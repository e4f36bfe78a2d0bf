#include "analysis/verdicts/analyse.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analysis/growth/observations.h"
#include "analysis/values/experiment_view.h"
#include "analysis/values/interval.h"
#include "analysis/verdicts/ablation.h"
#include "analysis/verdicts/comparison_rows.h"
#include "analysis/verdicts/default_gates.h"
#include "analysis/verdicts/diagnostics.h"
#include "analysis/verdicts/doubts.h"
#include "analysis/verdicts/equivalence.h"
#include "analysis/verdicts/gate_evaluation.h"
#include "analysis/verdicts/growth_rows.h"
#include "analysis/verdicts/lower_bounds.h"
#include "analysis/verdicts/merge_runs.h"
#include "analysis/verdicts/perturbation.h"
#include "base/error.h"
#include "base/text.h"

namespace memduel {
namespace {

/// Everything one call of analyse() works on.
struct Work {
  const RunData& run;
  const AnalysisSettings& settings;
  ExperimentView view;
  std::vector<Gate> gates;
  std::vector<std::string> roles;
  Observations observations;
  double alpha = kAlpha;
  int gate_rows = 1;  ///< that share the level
  std::vector<MeasuredRow> rows;
  std::vector<std::string> doubts;  ///< why no verdict of the run is believed
  Results results;
};

void add_rows(Work& work, const RowRules& rules, size_t candidate) {
  const auto& arms = work.observations.arms;
  MeasuredRows measured = measure_rows(rules, arms.front(), arms[candidate]);
  std::move(measured.rows.begin(), measured.rows.end(), std::back_inserter(work.rows));
  std::move(measured.limitations.begin(), measured.limitations.end(),
            std::back_inserter(work.results.limitations));
}

bool from_other_environment(const RunData& run) {
  return std::ranges::any_of(run.warnings,
                             [](const Note& note) { return note.code == kOtherEnvironment; });
}

/// What makes no verdict of the run credible; with the warning where its control says so.
std::optional<Note> doubt_run(Work& work) {
  std::optional<Note> flagged = flagged_control(work.rows, work.view.control_arms, work.gates);
  if (flagged) work.doubts.emplace_back("the run's own control differs from the baseline");
  if (from_other_environment(work.run))
    work.doubts.emplace_back("the two sides were measured in different environments");
  return flagged;
}

void not_measured(Work& work, const Gate& gate, const std::string& candidate) {
  const bool alive = any_alive(work.observations.arms.front());
  if (gate.is_default && alive) {
    const Note note{"default_gate_not_measured",
                    fmt::format("{}.{} is a default gate but was not measured, so it is left out",
                                gate.role, gate.metric),
                    "see memduel list meters for what gives it, or name gates with --gate"};
    const auto& known = work.results.limitations;
    const bool said = std::ranges::any_of(known, [&](const Note& other) {
      return other.code == note.code && other.message == note.message;
    });
    if (!said) work.results.limitations.push_back(note);
    return;
  }
  GateResult result;
  result.gate = gate.text;
  result.role = gate.role;
  result.metric = gate.metric;
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
        if (out.candidate != candidate || !asks_about(gate, out.role, out.metric)) continue;
        found = true;
        const Growth* growth = growth_of(work.results.growth, out.candidate, out);
        GateResult result =
            evaluate_gate(gate, row, growth, work.alpha, work.settings.strict_gates);
        result.advisory = result.advisory || (gate.is_default && !work.settings.default_gates);
        if (gate.role == "*") result.reason = out.role + ": " + result.reason;
        work.results.gates.push_back(with_doubts(work.doubts, std::move(result)));
      }
      if (!found) not_measured(work, gate, candidate);
    }
  }
}

/// Trials without it have failed, so that these are all that count.
void summarise_allocator(const Work& work, ArmSummary& summary) {
  const auto named = work.view.allocators.find(summary.name);
  if (named == work.view.allocators.end()) return;
  summary.allocator = named->second;
  std::set<std::string> libraries;
  for (const TrialData& trial : work.run.trials) {
    if (trial.arm != summary.name || trial.status != TrialStatus::ok) continue;
    for (const auto& [role, library] : trial.allocators) libraries.insert(library);
  }
  summary.allocator_libraries.assign(libraries.begin(), libraries.end());
}

void summarise_arms(Work& work) {
  for (size_t i = 0; i < work.view.arms.size(); ++i) {
    ArmSummary summary;
    summary.name = work.view.arms[i];
    const auto at = work.view.optimizations.find(summary.name);
    if (at != work.view.optimizations.end()) summary.optimizations = at->second;
    summary.model_sha256 = agreed_model(work.run, summary.name);
    summary.ablation = work.view.ablation_arms.contains(summary.name);
    summarise_allocator(work, summary);
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
    const auto first = std::ranges::find_if(work.run.trials, [&](const TrialData& trial) {
      return trial.arm == arm.name && trial.kind == TrialKind::measure && !trial.failure.empty();
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

/// Whether every gate is on a metric whose values were the same in every trial of an arm.
bool is_one_round(const RunData& run) {
  return std::ranges::none_of(run.trials, [](const TrialData& trial) {
    return std::ranges::any_of(trial.roles,
                               [](const RoleData& role) { return role.rounds.size() > 1; });
  });
}

bool all_exact(const Results& results) {
  return std::ranges::all_of(results.comparisons,
                             [](const Comparison& row) { return !row.gate || row.exact; });
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
  Ablation ablation = ablate(work.run, work.view,
                             ablation_metrics(work.gates, work.roles, work.run.job), work.settings);
  work.results.ablation = std::move(ablation.rows);
  work.results.ablation_totals = std::move(ablation.totals);
  for (Note& note : ablation.limitations) work.results.limitations.push_back(std::move(note));
}

int most_rounds(const Observations& observations) {
  size_t most = 0;
  for (const ArmObservations& arm : observations.arms)
    for (const Observation& trial : arm.trials)
      for (const auto& [role, rounds] : trial.round_ends) most = std::max(most, rounds.size());
  return static_cast<int>(most);
}

/// A default gate holds growth only where the rounds suffice to judge it.
void hint_at_growth(Work& work) {
  const int rounds = most_rounds(work.observations);
  const int needed = rounds_to_judge_growth(work.settings.warmup_rounds);
  if (rounds == 0 || rounds >= needed) return;
  const auto removed = std::erase_if(work.gates, [](const Gate& gate) {
    return gate.is_default && is_growth_metric(gate.metric);
  });
  if (removed == 0) return;
  work.results.limitations.push_back(
      {"growth_needs_rounds",
       fmt::format("{} rounds do not tell growth from a warm-up, so no gate holds it", rounds),
       fmt::format("{} rounds would tell: --set workload.rounds={}", needed, needed)});
}

/// A limitation where the default gates leave out the sum, a warning where somebody asks for it.
void note_misleading_sum(Work& work) {
  const bool by_default = work.settings.gates.empty();
  if (!ask_for_the_sum(by_default ? default_gates(work.run.job) : work.gates)) return;
  const auto sum = misleading_sum(work.run);
  if (!sum) return;
  const std::string bytes = format_bytes(sum->bytes);
  const std::string message =
      sum->how == MisleadingSum::How::counts_again
          ? "tree.peak_rss_bytes counts " + bytes + " of shared memory more than once"
          : "tree.peak_rss_bytes leaves out " + bytes + " that no process maps, as in a tmpfs";
  const std::string asked = sum->asked.role + "." + sum->asked.metric;
  if (by_default)
    work.results.limitations.push_back(
        {"misleading_sum", message, "the default gate asks for " + asked + " in its place"});
  else
    work.results.warnings.push_back({"misleading_sum", message, "ask for " + asked});
}

Work prepare(const RunData& run, const AnalysisSettings& settings) {
  Work work{run, settings, view_experiment(run), settings.gates, {}, {}, kAlpha, 1, {}, {}, {}};
  if (work.gates.empty()) work.gates = default_gates(run);
  work.roles = roles_to_compare(run, work.gates);
  work.observations = observe(run, work.view.arms, settings.warmup_rounds);
  hint_at_growth(work);
  const CheckedLooks looks = planned_looks(run, settings);
  work.gate_rows = gates_that_share(run, settings);
  work.alpha = alpha_at(looks.looks, complete_blocks(work.observations));
  std::vector<std::string> role_names = work.roles;
  for (const TrialData& trial : run.trials) {
    for (const RoleData& role : trial.roles)
      if (std::ranges::find(role_names, role.role) == role_names.end())
        role_names.push_back(role.role);
  }
  if (!run.trials.empty()) check_gate_names(work.gates, role_names, metric_names(work));
  Results& results = work.results;
  results.name = work.view.name;
  results.baseline = work.view.baseline;
  results.config_sha256 = run.config_sha256;
  results.warmup_rounds = settings.warmup_rounds;
  results.job = run.job;
  results.job.is_one_round = is_one_round(run);
  results.environment = run.environment;
  note_misleading_sum(work);
  results.limitations.insert(results.limitations.end(), run.limitations.begin(),
                             run.limitations.end());
  results.limitations.insert(results.limitations.end(), looks.limitations.begin(),
                             looks.limitations.end());
  results.warnings.insert(results.warnings.end(), run.warnings.begin(), run.warnings.end());
  results.trials = without_series(run.trials);
  return work;
}

}  // namespace

Results analyse(const RunData& run, const AnalysisSettings& settings) {
  Work work = prepare(run, settings);
  const auto& arms = work.observations.arms;
  summarise_arms(work);
  note_losses(work);
  const Observations judged = judged_arms(work);
  const std::vector<GrowthRow> growth = growth_rows(run, judged, work.roles, settings, work.alpha);
  const RowRules rules{work.view,  work.gates,     work.roles, settings,
                       work.alpha, work.gate_rows, growth};
  for (size_t i = 1; i < arms.size(); ++i) {
    if (!work.view.ablation_arms.contains(arms[i].arm)) add_rows(work, rules, i);
    work.results.equivalence.push_back(equivalence_of(run, arms.front(), arms[i]));
  }
  decide_controls(work.rows, rules);
  std::optional<Note> flagged = doubt_run(work);
  decide_rows(work.rows, rules, work.doubts);
  for (Note& note : diagnose(judged, work.rows, run.environment)) {
    work.results.warnings.push_back(std::move(note));
  }
  for (const GrowthRow& row : growth) work.results.growth.push_back(row.row);
  evaluate_gates(work);
  if (flagged) work.results.warnings.push_back(std::move(*flagged));
  for (MeasuredRow& row : work.rows) work.results.comparisons.push_back(std::move(row.comparison));
  put_in_telling_order(work.results.comparisons);
  work.results.lower_bounds = lower_bounds(run, work.observations);
  for (Note& doubt : doubts_of_bounds(work.results.lower_bounds))
    work.results.warnings.push_back(std::move(doubt));
  work.results.perturbation = perturbations(run);
  take_apart(work);
  return std::move(work.results);
}

bool may_end(const RunData& so_far, const AnalysisSettings& settings) {
  const ExperimentView view = view_experiment(so_far);
  const Observations observations = observe(so_far, view.arms, settings.warmup_rounds);
  const int blocks = complete_blocks(observations);
  const LookPlan looks = planned_looks(so_far, settings).looks;
  const bool at_look =
      std::ranges::any_of(looks, [&](const Look& look) { return look.blocks == blocks; });
  if (at_look) return settled(analyse(so_far, settings));
  // Counters that repeat need no test; a single look of their own, so that nothing adds up.
  const int exact = exact_trials(gates_that_share(so_far, settings));
  if (blocks != exact + exact % 2) return false;
  const Results results = analyse(so_far, settings);
  return settled(results) && all_exact(results);
}

}  // namespace memduel
