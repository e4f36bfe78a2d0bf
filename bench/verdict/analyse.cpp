// One run in, its results out: the steps of the analysis in their order, and what is said beside
// rows and gates.

#include "verdict/analyse.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "analysis_steps.h"
#include "model/experiment_view.h"
#include "stats/samples.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/comparison.h"
#include "verdict/gates.h"
#include "verdict/result_files.h"

namespace memduel {
namespace {

void append(std::vector<Note>& notes, std::vector<Note> more) {
  std::ranges::move(more, std::back_inserter(notes));
}

int complete_blocks(const Observations& observations) {
  size_t least = observations.arms.front().trials.size();
  for (const ArmObservations& arm : observations.arms) least = std::min(least, arm.trials.size());
  return static_cast<int>(least);
}

int most_rounds(const Observations& observations) {
  size_t most = 0;
  for (const ArmObservations& arm : observations.arms)
    for (const Observation& trial : arm.trials)
      for (const auto& [role, rounds] : trial.round_ends) most = std::max(most, rounds.size());
  return static_cast<int>(most);
}

/// Default gates on growth, which the rounds of the run do not suffice to judge, are left out.
std::vector<Note> leave_out_growth(std::vector<Gate>& gates, const Observations& observations,
                                   int warmup_rounds) {
  const int rounds = most_rounds(observations);
  const int needed = rounds_to_judge_growth(warmup_rounds);
  if (rounds == 0 || rounds >= needed) return {};
  const auto removed = std::erase_if(
      gates, [](const Gate& gate) { return gate.is_default && is_growth_metric(gate.metric); });
  if (removed == 0) return {};
  return {{"growth_needs_rounds",
           fmt::format("{} rounds cannot distinguish growth from a warm-up, so the default growth "
                       "gates were skipped",
                       rounds),
           fmt::format("run {} rounds or more: --set workload.rounds={}", needed, needed)}};
}

/// Every metric that a variant has of these roles.
std::vector<std::string> metric_names(const Observations& observations,
                                      const std::vector<std::string>& roles) {
  std::set<std::string> metrics;
  for (const ArmObservations& arm : observations.arms)
    for (const std::string& role : roles) metrics.merge(metrics_of(arm, role));
  return {metrics.begin(), metrics.end()};
}

/// The verdicts of a run that goes on wait for the next planned look.
std::string wait_for_look(const LookPlan& looks, int done) {
  const auto next =
      std::ranges::find_if(looks, [&](const Look& look) { return look.blocks > done; });
  return next == looks.end()
             ? ""
             : fmt::format("no verdict before the analysis after {} trials each", next->blocks);
}

}  // namespace

Inquiry ask(const RunData& run, const AnalysisSettings& settings) {
  ExperimentView view = view_experiment(run);
  auto [gates, limitations, warnings] = gates_to_judge(run, settings);
  std::vector<std::string> roles = roles_to_compare(run, gates);
  Observations observations = observe(run, view.arms, settings.warmup_rounds);
  std::vector<Note> known = leave_out_growth(gates, observations, settings.warmup_rounds);
  gates = checked_gates(std::move(gates), run, settings, view.arms.size() == 1, roles,
                        metric_names(observations, roles));
  const PlannedTrials planned = planned_trials(run, settings);
  const int blocks = complete_blocks(observations);
  append(known, std::move(limitations));
  append(known, run.limitations);
  append(known, planned.looks.limitations);
  if (planned.too_few) warnings.push_back(*planned.too_few);
  append(warnings, run.warnings);
  return {run,
          settings,
          std::move(view),
          std::move(gates),
          std::move(roles),
          std::move(observations),
          planned.order,
          alpha_at(planned.looks.looks, blocks),
          planned.gate_rows,
          planned.least,
          settings.still_running ? wait_for_look(planned.looks.looks, blocks) : "",
          std::move(known),
          std::move(warnings)};
}

namespace {

/// Trials without it have failed, so that these are all that count.
void summarise_allocator(const Inquiry& inquiry, ArmSummary& summary) {
  const Variant* variant = inquiry.run.config.variant(summary.name);
  if (variant == nullptr || !variant->allocator) return;
  summary.allocator = to_name(*variant->allocator);
  std::set<std::string> libraries;
  for (const TrialData& trial : inquiry.run.trials) {
    if (trial.arm != summary.name || trial.status != TrialStatus::ok) continue;
    for (const auto& [role, library] : trial.allocators) libraries.insert(library);
  }
  summary.allocator_libraries.assign(libraries.begin(), libraries.end());
}

std::vector<ArmSummary> summarise_arms(const Inquiry& inquiry) {
  const ExperimentView& view = inquiry.view;
  std::vector<ArmSummary> arms;
  for (const ArmObservations& arm : inquiry.observations.arms) {
    ArmSummary summary;
    summary.name = arm.arm;
    if (const Variant* variant = inquiry.run.config.variant(arm.arm))
      summary.optimizations = variant->switches;
    summary.model_sha256 = agreed_model(inquiry.run, arm.arm);
    summary.ablation = view.ablation_arms.contains(arm.arm);
    summarise_allocator(inquiry, summary);
    for (const Observation& trial : arm.trials)
      ++(trial.status == TrialStatus::ok ? summary.trials_ok : summary.trials_failed);
    arms.push_back(std::move(summary));
  }
  return arms;
}

/// "server, client": roles that never get beyond the rounds of warm-up.
std::string roles_in_warmup_alone(const Inquiry& inquiry) {
  std::map<std::string, bool> judged;
  for (const TrialData& trial : inquiry.run.trials) {
    if (!trial.counts()) continue;
    for (const RoleData& role : trial.roles) {
      const bool now = has_rounds_to_judge(role, inquiry.settings.warmup_rounds);
      const auto [at, is_new] = judged.emplace(role.role, now);
      if (!is_new) at->second = at->second || now;
    }
  }
  std::vector<std::string> roles;
  for (const auto& [role, has_some] : judged)
    if (!has_some) roles.push_back(role);
  return fmt::format("{}", fmt::join(roles, ", "));
}

/// What the job itself logged or marked, where not every trial of an arm did.
void note_rare_metrics(std::vector<Note>& notes, const Inquiry& inquiry) {
  for (const ArmObservations& arm : inquiry.observations.arms) {
    for (const std::string& role : inquiry.roles) {
      for (const std::string& metric : metrics_of(arm, role)) {
        if (is_known_metric(metric)) continue;
        const auto alive = std::ranges::count_if(
            arm.trials, [](const Observation& trial) { return trial.status == TrialStatus::ok; });
        const auto with = std::ranges::count_if(arm.trials, [&](const Observation& trial) {
          return value_of(trial, role, metric).has_value();
        });
        if (with == alive) continue;
        notes.push_back(
            {"metric_in_few_trials",
             fmt::format("{} of {} was recorded in {} of {} of {}", metric, role, with,
                         format_count(static_cast<std::size_t>(alive), "trial"), arm.arm),
             "log or record it in every trial"});
      }
    }
  }
}

/// Values that are left out.
std::vector<Note> missing_values(const Inquiry& inquiry) {
  std::vector<Note> limitations;
  note_rare_metrics(limitations, inquiry);
  if (const std::string roles = roles_in_warmup_alone(inquiry); !roles.empty()) {
    limitations.push_back(
        {"rounds_of_warmup_alone",
         fmt::format(
             "warmup_rounds is {}, and no trial of {} has more rounds, so times per round and "
             "values at round ends are omitted",
             inquiry.settings.warmup_rounds, roles),
         "set a smaller measure.warmup_rounds"});
  }
  return limitations;
}

/// Blocks, values and trials that are lost.
std::vector<Note> losses(const Inquiry& inquiry, const std::vector<ArmSummary>& arms) {
  const RunData& run = inquiry.run;
  const Observations& observations = inquiry.observations;
  std::vector<Note> warnings;
  if (observations.dropped_blocks > 0) {
    warnings.push_back(
        {"blocks_dropped",
         fmt::format("{} dropped because memduel itself failed",
                     format_count(observations.dropped_blocks, "block was", "blocks were")),
         "see the logs of the failed trials"});
  }
  if (observations.not_a_number > 0) {
    warnings.push_back({"not_a_number",
                        fmt::format("{} values were not a number and are treated as not measured",
                                    observations.not_a_number),
                        "find the custom metric that reports NaN"});
  }
  for (const ArmSummary& arm : arms) {
    if (arm.trials_failed == 0) continue;
    const auto first = std::ranges::find_if(run.trials, [&](const TrialData& trial) {
      return trial.arm == arm.name && trial.kind == TrialKind::measure && !trial.failure.empty();
    });
    warnings.push_back(
        {"trials_failed",
         fmt::format("{} of {} of variant {} failed{}", arm.trials_failed,
                     format_count(arm.trials_ok + arm.trials_failed, "trial"), arm.name,
                     first == run.trials.end() ? "" : "; the first: " + first->failure),
         arm.name == inquiry.view.baseline
             ? "trials whose baseline failed are excluded from the comparison"
             : "a failed trial of a candidate counts as worse than any value"});
  }
  return warnings;
}

std::vector<TrialData> without_series(const std::vector<TrialData>& trials) {
  std::vector<TrialData> kept = trials;
  for (TrialData& trial : kept) {
    for (RoleData& role : trial.roles) role.series.clear();
  }
  return kept;
}

bool is_one_round(const RunData& run) {
  return std::ranges::none_of(run.trials, [](const TrialData& trial) {
    return std::ranges::any_of(trial.roles,
                               [](const RoleData& role) { return role.rounds.size() > 1; });
  });
}

/// Whether every gate is on a metric whose values were the same in every trial of an arm.
bool all_exact(const Results& results) {
  return std::ranges::all_of(results.comparisons,
                             [](const Comparison& row) { return !row.gate || row.exact; });
}

/// The arms that are judged, without those that only take one of them apart; absent: all are.
std::optional<Observations> judged_arms(const Inquiry& inquiry) {
  if (inquiry.view.ablation_arms.empty()) return std::nullopt;
  Observations judged = inquiry.observations;
  std::erase_if(judged.arms, [&](const ArmObservations& arm) {
    return inquiry.view.ablation_arms.contains(arm.arm);
  });
  return judged;
}

/// Whether the trials did not run where the run's seed puts them: the test takes all orders then.
bool is_other_order(const Inquiry& inquiry) {
  return !inquiry.order && inquiry.settings.design == Design::restricted &&
         inquiry.view.arms.size() >= 2 &&
         std::ranges::find(inquiry.run.trials, TrialKind::measure, &TrialData::kind) !=
             inquiry.run.trials.end();
}

/// What is known of the run before any row.
Results frame_of(const Inquiry& inquiry) {
  const RunData& run = inquiry.run;
  Results results;
  results.name = inquiry.run.config.name;
  results.baseline = inquiry.view.baseline;
  results.config_sha256 = run.config_sha256;
  results.warmup_rounds = inquiry.settings.warmup_rounds;
  results.job = run.job;
  results.job.is_one_round = is_one_round(run);
  results.environment = run.environment;
  results.order = std::string(to_name(inquiry.settings.design));
  results.trials = without_series(run.trials);
  results.arms = summarise_arms(inquiry);
  results.limitations = inquiry.limitations;
  results.warnings = inquiry.warnings;
  append(results.limitations, missing_values(inquiry));
  append(results.warnings, losses(inquiry, results.arms));
  if (is_other_order(inquiry)) {
    results.order = std::string(to_name(Design::superblocks));
    results.limitations.push_back(
        {"order_not_drawn",
         "the trials did not run in the order drawn from the config's seed, so "
         "the test uses all orders within block pairs and removes no "
         "position effect",
         "rerun it as a whole"});
  }
  return results;
}

/// Whether everything has run that could record a gate's metric so that the gate can be judged.
bool has_trials_for(const Gate& gate, const RunData& run) {
  const auto has_run = [&](const std::string& variant) {
    return std::ranges::any_of(run.trials, [&](const TrialData& trial) {
      return trial.arm == variant && trial.status == TrialStatus::ok;
    });
  };
  return has_ceiling(gate) ? std::ranges::all_of(run.config.variant_names(), has_run)
                           : has_run(run.config.baseline);
}

/// Once every variant has run: a match of the job that found nothing, and a role that was neither
/// in the job nor a benchmark.
void refuse_role_without_process(const Gate& gate, const RunData& run) {
  std::set<std::string> seen;
  std::set<std::string> variants;
  for (const TrialData& trial : run.trials) {
    if (trial.status != TrialStatus::ok) continue;
    variants.insert(trial.arm);
    for (const RoleData& role : trial.roles) seen.insert(role.role);
  }
  const auto& roles = run.job.roles;
  const bool is_role = std::ranges::find(roles, gate.role) != roles.end() ||
                       group_role(run.job, gate.role).has_value();
  const bool was_seen = std::ranges::any_of(
      seen, [&](const std::string& role) { return is_about(run.job, gate.role, role); });
  if (gate.role == "*" || was_seen || variants.size() < run.config.variants.size()) return;
  if (!is_role) {
    seen.insert(roles.begin(), roles.end());
    check_gate_names({gate}, {seen.begin(), seen.end()}, {gate.metric}, run.job);
  }
  throw Error(ExitCode::usage, fmt::format("no trial had a process of the role '{}'", gate.role),
              fmt::format("gate '{}'", gate.text),
              "the pattern of its match must match the arguments of a descendant, joined by "
              "spaces (ps -ef shows them), and ancestor and port must be that process's");
}

}  // namespace

void refuse_unmeasured_gates(const RunData& first_trials, const AnalysisSettings& settings) {
  std::set<std::string> metrics;
  for (const TrialData& trial : first_trials.trials) {
    for (const RoleData& role : trial.roles) {
      for (const auto& [metric, value] : role.metrics) metrics.insert(metric);
      for (const RoundData& round : role.rounds)
        for (const auto& [metric, value] : round.metrics) metrics.insert(metric);
    }
  }
  for (Gate gate : settings.gates) {
    if (!has_trials_for(gate, first_trials)) continue;
    refuse_role_without_process(gate, first_trials);
    gate.role = "*";  // of a role that comes later nothing is known yet
    check_gate_names({gate}, {}, {metrics.begin(), metrics.end()}, first_trials.job);
  }
}

Results analyse(const RunData& run, const AnalysisSettings& settings) {
  const Inquiry inquiry = ask(run, settings);
  const std::optional<Observations> some = judged_arms(inquiry);
  const Observations& judged = some ? *some : inquiry.observations;
  const std::vector<GrowthRow> growth =
      growth_rows(run, judged, inquiry.roles, settings, inquiry.alpha);
  MeasuredRows measured = measure_rows(inquiry, growth);
  DecidedRows decided = decide_rows(std::move(measured.rows), inquiry);
  JudgedGates gates = judge_gates(inquiry, decided, growth);
  Ablation ablation = ablate(inquiry, ablation_metrics(inquiry.gates, inquiry.roles, run.job));

  Results results = frame_of(inquiry);
  append(results.limitations, std::move(measured.limitations));
  append(results.limitations, std::move(gates.limitations));
  append(results.limitations, std::move(ablation.limitations));
  append(results.warnings, diagnose(judged, decided.rows, run.job, run.environment));
  if (decided.warning) results.warnings.push_back(std::move(*decided.warning));
  for (DecidedRow& row : decided.rows) results.comparisons.push_back(std::move(row.comparison));
  for (const GrowthRow& row : growth) results.growth.push_back(row.row);
  results.gates = std::move(gates.results);
  results.overall = overall_of(results, judged_variants(inquiry.view));
  const auto& arms = inquiry.observations.arms;
  for (size_t i = 1; i < arms.size(); ++i)
    results.equivalence.push_back(equivalence_of(run, arms.front(), arms[i]));
  results.lower_bounds = lower_bounds(run, inquiry.observations);
  append(results.warnings, doubts_of_bounds(results.lower_bounds));
  results.perturbation = perturbations(run);
  results.ablation = std::move(ablation.rows);
  results.ablation_totals = std::move(ablation.totals);
  return results;
}

namespace {

/// Without named gates a comparison of commands is about the peak RSS of all processes.
bool peak_rss_is_decided(const Results& results, const AnalysisSettings& settings) {
  if (!settings.gates.empty() || results.job.roles.size() > 1) return true;
  return std::ranges::none_of(results.comparisons, [](const Comparison& row) {
    return row.role == kTree && row.metric == kPeakRss && row.verdict == Verdict::inconclusive &&
           !row.is_of_dead();
  });
}

}  // namespace

bool may_end(const RunData& so_far, const AnalysisSettings& settings) {
  const ExperimentView view = view_experiment(so_far);
  const Observations observations = observe(so_far, view.arms, settings.warmup_rounds);
  const int blocks = complete_blocks(observations);
  const LookPlan looks = planned_looks(so_far, settings).looks;
  const bool at_look =
      std::ranges::any_of(looks, [&](const Look& look) { return look.blocks == blocks; });
  if (at_look) {
    const Results results = analyse(so_far, settings);
    return settled(results) && peak_rss_is_decided(results, settings);
  }
  // Counters that repeat need no test; a single look of their own, so that nothing adds up.
  const int exact = exact_trials(gates_that_share(so_far, settings));
  if (blocks != exact + exact % 2) return false;
  const Results results = analyse(so_far, settings);
  return settled(results) && all_exact(results) && peak_rss_is_decided(results, settings);
}

}  // namespace memduel
