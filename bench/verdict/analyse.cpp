#include "verdict/analyse.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ablation.h"
#include "comparison_rows.h"
#include "diagnostics.h"
#include "equivalence.h"
#include "lower_bounds.h"
#include "model/experiment_view.h"
#include "stats/samples.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/comparison.h"
#include "verdict/gates.h"
#include "verdict/result_files.h"

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
  Doubts doubts;
  Results results;
};

void add_rows(Work& work, const RowRules& rules, size_t candidate) {
  const auto& arms = work.observations.arms;
  MeasuredRows measured = measure_rows(rules, arms.front(), arms[candidate]);
  std::move(measured.rows.begin(), measured.rows.end(), std::back_inserter(work.rows));
  std::move(measured.limitations.begin(), measured.limitations.end(),
            std::back_inserter(work.results.limitations));
}

int complete_blocks(const Observations& observations) {
  size_t least = observations.arms.front().trials.size();
  for (const ArmObservations& arm : observations.arms) least = std::min(least, arm.trials.size());
  return static_cast<int>(least);
}

bool from_other_environment(const RunData& run) {
  return std::ranges::any_of(run.warnings,
                             [](const Note& note) { return note.code == kOtherEnvironment; });
}

/// What makes no verdict of the run credible; with the warning where its control says so.
std::optional<Note> doubt_run(Work& work) {
  std::optional<Note> flagged = flagged_control(work.rows, work.view.control_arms, work.gates);
  if (flagged) work.doubts.reasons.emplace_back("the run's own control differs from the baseline");
  if (from_other_environment(work.run))
    work.doubts.reasons.emplace_back("the two sides were measured in different environments");
  return flagged;
}

/// The verdicts of a run that goes on wait for the next planned look.
void wait_for_next_look(Work& work, const LookPlan& looks) {
  if (!work.settings.still_running) return;
  const int done = complete_blocks(work.observations);
  const auto next =
      std::ranges::find_if(looks, [done](const Look& look) { return look.blocks > done; });
  if (next != looks.end())
    work.doubts.pending = fmt::format("no verdict before block {}", next->blocks);
}

void evaluate_gates(Work& work) {
  const GateRules rules{work.alpha, work.settings.strict_gates, work.settings.on_inconclusive,
                        work.doubts};
  JudgedGates judged =
      judge_gates({work.run, work.view, work.observations, work.gates, work.roles, work.rows,
                   work.results.growth, rules, default_gates_decide(work.settings),
                   work.settings.named_default_gates});
  work.results.gates = std::move(judged.results);
  std::ranges::move(judged.limitations, std::back_inserter(work.results.limitations));
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

/// "server, client": roles that never get beyond the rounds of warm-up.
std::string roles_in_warmup_alone(const Work& work) {
  std::map<std::string, bool> judged;
  for (const TrialData& trial : work.run.trials) {
    if (!trial.counts()) continue;
    for (const RoleData& role : trial.roles) {
      const bool now = has_rounds_to_judge(role, work.settings.warmup_rounds);
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
void note_rare_metrics(Work& work) {
  for (const ArmObservations& arm : work.observations.arms) {
    for (const std::string& role : work.roles) {
      for (const std::string& metric : metrics_of(arm, role)) {
        if (is_known_metric(metric)) continue;
        const auto alive = std::ranges::count_if(
            arm.trials, [](const Observation& trial) { return trial.status == TrialStatus::ok; });
        const auto with = std::ranges::count_if(arm.trials, [&](const Observation& trial) {
          return value_of(trial, role, metric).has_value();
        });
        if (with == alive) continue;
        work.results.limitations.push_back(
            {"metric_in_few_trials",
             fmt::format("{} of {} was given in {} of {} of {}", metric, role, with,
                         format_count(static_cast<std::size_t>(alive), "trial"), arm.arm),
             "log or mark it in every trial"});
      }
    }
  }
}

void note_losses(Work& work) {
  auto& warnings = work.results.warnings;
  if (work.observations.dropped_blocks > 0) {
    warnings.push_back(
        {"blocks_dropped",
         fmt::format("{} left out because memduel itself failed there",
                     format_count(work.observations.dropped_blocks, "block was", "blocks were")),
         "see the failed trials' logs"});
  }
  if (work.observations.not_a_number > 0) {
    warnings.push_back({"not_a_number",
                        fmt::format("{} values were not a number and count as not measured",
                                    work.observations.not_a_number),
                        "look for the gauge that reports NaN"});
  }
  note_rare_metrics(work);
  if (const std::string roles = roles_in_warmup_alone(work); !roles.empty()) {
    work.results.limitations.push_back(
        {"rounds_of_warmup_alone",
         fmt::format("warmup_rounds is {}, and no trial of {} has more rounds: times per round and "
                     "values at the ends of rounds are left out",
                     work.settings.warmup_rounds, roles),
         "give a smaller measure.warmup_rounds"});
  }
  for (const ArmSummary& arm : work.results.arms) {
    if (arm.trials_failed == 0) continue;
    const auto first = std::ranges::find_if(work.run.trials, [&](const TrialData& trial) {
      return trial.arm == arm.name && trial.kind == TrialKind::measure && !trial.failure.empty();
    });
    warnings.push_back(
        {"trials_failed",
         fmt::format("{} of {} of arm {} failed{}", arm.trials_failed,
                     format_count(arm.trials_ok + arm.trials_failed, "trial"), arm.name,
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

std::vector<std::string> metric_names(const Work& work) {
  std::set<std::string> metrics;
  for (const ArmObservations& arm : work.observations.arms) {
    for (const std::string& role : work.roles) metrics.merge(metrics_of(arm, role));
  }
  return {metrics.begin(), metrics.end()};
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
       fmt::format("{} rounds cannot distinguish growth from a warm-up, so no gate judges it",
                   rounds),
       fmt::format("{} rounds would tell: --set workload.rounds={}", needed, needed)});
}

/// A limitation where the default gates leave out the sum, a warning where somebody asks for it.
void note_misleading_sum(Work& work) {
  const bool by_default = asks_for_default_gates(work.settings);
  if (!ask_for_the_sum(by_default ? default_gates(work.run.job) : work.gates)) return;
  const auto sum = misleading_sum(work.run);
  if (!sum) return;
  const std::string bytes = format_bytes(sum->bytes);
  const std::string message =
      sum->how == MisleadingSum::How::counts_again
          ? "all.peak_rss_bytes counts " + bytes + " of shared memory more than once"
          : "all.peak_rss_bytes leaves out " + bytes + " that no process maps, as in a tmpfs";
  const std::string asked = sum->asked.role + "." + sum->asked.metric;
  if (by_default)
    work.results.limitations.push_back(
        {"misleading_sum", message, "the default gate asks for " + asked + " in its place"});
  else
    work.results.warnings.push_back({"misleading_sum", message, "ask for " + asked});
}

[[noreturn]] void refuse_defaults_alone() {
  throw Error(ExitCode::usage,
              "the run has one variant, and the default gates compare with a baseline",
              fmt::format("gate '{}'", kDefaultGates),
              "give an absolute bound, for example all.peak_rss_bytes<=900MiB");
}

/// A run whose trials did not run where its seed puts them: the test takes all orders then.
void note_other_order(Work& work, bool is_known) {
  const bool has_trials = std::ranges::any_of(
      work.results.trials, [](const TrialData& trial) { return trial.kind == TrialKind::measure; });
  if (is_known || work.settings.design != Design::restricted || work.view.arms.size() < 2 ||
      !has_trials)
    return;
  work.results.order = std::string(to_name(Design::superblocks));
  work.results.limitations.push_back({"order_not_drawn",
                                      "the trials did not run in the order that the config's seed "
                                      "draws: the test takes all orders "
                                      "within pairs of blocks, and removes no effect of places",
                                      "run it again as a whole"});
}

void check_names(Work& work, const std::vector<std::string>& roles) {
  const std::vector<std::string> metrics = metric_names(work);
  for (Gate& gate : work.gates) {
    try {
      check_gate_names({gate}, roles, metrics, work.run.job);
    } catch (const Error& error) {
      if (!work.settings.gates_of_config) throw;
      gate.unjudged = error.what();
    }
  }
}

Work prepare(const RunData& run, const AnalysisSettings& settings) {
  Work work{
      run, settings, view_experiment(run), gates_to_judge(run, settings), {}, {}, kAlpha, 1, {},
      {},  {}};
  const bool is_alone = work.view.arms.size() == 1;
  if (is_alone && settings.named_default_gates) refuse_defaults_alone();
  refuse_unjudgeable(work.gates, is_alone, settings.design != Design::unpaired);
  work.roles = roles_to_compare(run, work.gates);
  work.observations = observe(run, work.view.arms, settings.warmup_rounds);
  hint_at_growth(work);
  const CheckedLooks looks = planned_looks(run, settings);
  work.gate_rows = gates_that_share(run, settings);
  work.alpha = alpha_at(looks.looks, complete_blocks(work.observations));
  wait_for_next_look(work, looks.looks);
  std::vector<std::string> role_names = work.roles;
  for (const TrialData& trial : run.trials) {
    for (const RoleData& role : trial.roles)
      if (std::ranges::find(role_names, role.role) == role_names.end())
        role_names.push_back(role.role);
  }
  if (!run.trials.empty()) check_names(work, role_names);
  Results& results = work.results;
  results.name = work.view.name;
  results.baseline = work.view.baseline;
  results.config_sha256 = run.config_sha256;
  results.warmup_rounds = settings.warmup_rounds;
  results.job = run.job;
  results.job.is_one_round = is_one_round(run);
  results.environment = run.environment;
  results.order = std::string(to_name(settings.design));
  note_misleading_sum(work);
  results.limitations.insert(results.limitations.end(), run.limitations.begin(),
                             run.limitations.end());
  results.limitations.insert(results.limitations.end(), looks.limitations.begin(),
                             looks.limitations.end());
  if (auto few = too_few_trials(run, settings)) results.warnings.push_back(std::move(*few));
  results.warnings.insert(results.warnings.end(), run.warnings.begin(), run.warnings.end());
  results.trials = without_series(run.trials);
  return work;
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
    gate.role = "*";  // of a role that comes later nothing is known yet
    check_gate_names({gate}, {}, {metrics.begin(), metrics.end()}, first_trials.job);
  }
}

Results analyse(const RunData& run, const AnalysisSettings& settings) {
  Work work = prepare(run, settings);
  const auto& arms = work.observations.arms;
  summarise_arms(work);
  note_losses(work);
  const Observations judged = judged_arms(work);
  const std::vector<GrowthRow> growth = growth_rows(run, judged, work.roles, settings, work.alpha);
  const std::optional<RunOrder> order =
      settings.design == Design::restricted ? run_order(run) : std::nullopt;
  note_other_order(work, order.has_value());
  const RowRules rules{work.view,
                       work.gates,
                       work.roles,
                       settings,
                       work.alpha,
                       work.gate_rows,
                       least_deciding_trials(run, settings),
                       growth,
                       run.job,
                       order ? &*order : nullptr};
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
  work.results.overall = overall_of(work.results, judged_variants(work.view));
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
