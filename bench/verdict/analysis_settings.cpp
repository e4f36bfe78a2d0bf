// What a run is analysed with, and what is refused before it starts.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analysis_steps.h"
#include "model/experiment_view.h"
#include "model/metric_catalogue.h"
#include "stats/growth.h"
#include "stats/sample_size.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/analyse.h"
#include "verdict/comparison.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

/// Whether the config cannot give a default gate's metric, so that it is going to be left out.
bool is_left_out(const Gate& gate, const Document& config, int warmup_rounds) {
  if (!gate.is_default) return false;
  if (metric_info(gate.metric).meter == "heap") {
    const auto& meters = config.measure.meters;
    return !meters || std::ranges::find(*meters, "heap") == meters->end();
  }
  const std::optional<int> rounds = config.rounds();
  return is_growth_metric(gate.metric) && rounds && *rounds < rounds_to_judge_growth(warmup_rounds);
}

}  // namespace

AnalysisSettings settings_from_config(const Document& config) {
  AnalysisSettings settings;
  const Measure& measure = config.measure;
  settings.design = measure.order == BlockOrder::restricted    ? Design::restricted
                    : measure.order == BlockOrder::superblocks ? Design::superblocks
                                                               : Design::paired;
  const std::size_t arms = view_config(config).arms.size();
  settings.looks = settings.design == Design::restricted ? adaptive_looks(arms > 0 ? arms - 1 : 0)
                                                         : earlier_looks();
  if (measure.repeats) settings.looks = fixed_looks(*measure.repeats);
  settings.warmup_rounds = measure.warmup_rounds;
  if (measure.seed) settings.seed = *measure.seed;
  settings.strict_gates = config.strict_gates;
  settings.default_gates = config.default_gates_decide();
  if (config.growth && config.growth->horizon_rounds)
    settings.horizon_rounds = *config.growth->horizon_rounds;
  else if (const auto rounds = config.rounds())
    settings.horizon_rounds = *rounds;
  name_gates(settings, config.gates);
  return settings;
}

void name_gates(AnalysisSettings& settings, const std::vector<std::string>& gates) {
  settings.gates.clear();
  settings.named_default_gates = false;
  for (const std::string& gate : gates) {
    if (gate == kDefaultGates)
      settings.named_default_gates = true;
    else
      settings.gates.push_back(parse_gate(gate));
  }
}

bool asks_for_default_gates(const AnalysisSettings& settings) {
  return settings.named_default_gates || settings.gates.empty();
}

bool default_gates_decide(const AnalysisSettings& settings) {
  return settings.named_default_gates || (settings.default_gates && settings.gates.empty());
}

namespace {

/// Those that decide, as far as they are known before the run.
std::vector<Gate> expected_gates(const RunData& run, const AnalysisSettings& settings) {
  std::vector<Gate> gates = settings.gates;
  if (asks_for_default_gates(settings)) {
    const std::vector<Gate> defaults = default_gates(run.job);
    gates.insert(gates.end(), defaults.begin(), defaults.end());
  }
  std::erase_if(gates, [&](const Gate& gate) {
    return gate.advisory || is_left_out(gate, run.config, settings.warmup_rounds);
  });
  return gates;
}

}  // namespace

std::vector<std::string> judged_variants(const ExperimentView& view) {
  if (view.arms.size() == 1) return view.arms;
  std::vector<std::string> judged;
  for (std::size_t arm = 1; arm < view.arms.size(); ++arm)
    if (!view.control_arms.contains(view.arms[arm]) && !view.ablation_arms.contains(view.arms[arm]))
      judged.push_back(view.arms[arm]);
  return judged;
}

int judged_candidates(const RunData& run) {
  const ExperimentView view = view_config(run.config);
  const auto candidates = static_cast<std::ptrdiff_t>(view.arms.size()) - 1 -
                          static_cast<std::ptrdiff_t>(view.control_arms.size()) -
                          static_cast<std::ptrdiff_t>(view.ablation_arms.size());
  return static_cast<int>(std::max<std::ptrdiff_t>(1, candidates));
}

int gates_that_share(const RunData& run, const AnalysisSettings& settings) {
  // A gate on all roles counts once: how many roles have its metric is not known before the run.
  const auto tested = std::ranges::count_if(expected_gates(run, settings), has_relative_bound);
  return std::max(1, static_cast<int>(tested) * judged_candidates(run));
}

namespace {

/// Whether the trials there are gave a variant different values of the gate's metric.
bool has_varied(const RunData& run, const Gate& gate) {
  std::map<std::pair<std::string, std::string>, double> first;  // by variant and role
  for (const TrialData& trial : run.trials) {
    if (!trial.counts()) continue;
    for (const RoleData& role : trial.roles) {
      const auto value = role.metrics.value(gate.metric);
      if (!value || (gate.role != "*" && gate.role != role.role)) continue;
      if (*value != first.emplace(std::pair(trial.arm, role.role), *value).first->second)
        return true;
    }
  }
  return false;
}

/// Trials of each variant after which a gate can have an outcome.
class LeastTrials {
 public:
  LeastTrials(const RunData& run, const AnalysisSettings& settings)
      : run_(run),
        comparisons_(gates_that_share(run, settings)),
        by_ranks_(settings.design == Design::restricted
                      ? fewest_blocks_that_can_decide(run, settings).value_or(kMostUsefulBlocks)
                      : least_trials(comparisons_, settings.design)) {}

  [[nodiscard]] int of(const Gate& gate) const {
    if (is_growth_metric(gate.metric)) return static_cast<int>(kGrowthRuns);
    if (metric_info(gate.metric).exact && !has_varied(run_, gate))
      return exact_trials(comparisons_);
    return has_relative_bound(gate) ? by_ranks_ : kMinimumBlocks;
  }

 private:
  const RunData& run_;
  int comparisons_;
  int by_ranks_;  ///< that the test of values takes
};

/// Those that a run decides with so many trials or more.
std::vector<Gate> gates_to_decide(const RunData& run, const AnalysisSettings& settings) {
  std::vector<Gate> gates = expected_gates(run, settings);
  if (view_config(run.config).arms.size() == 1)
    std::erase_if(gates, [](const Gate& gate) { return gate.is_default; });
  return gates;
}

/// Of a plan with so few trials, before it starts and beside its results.
Note too_few_trials(const RunData& run, const AnalysisSettings& settings,
                    const PlannedTrials& planned, const std::vector<std::string>& undecided,
                    bool is_any) {
  const int blocks = settings.looks.back().blocks;
  const bool shares = planned.gate_rows > 1;
  // Gates that change together need less than one that changes alone.
  const bool together = is_any && reachable_p(run, settings, blocks).smallest_p <= kAlpha;
  const bool is_gated = !run.config.gates.empty();
  const std::string what =
      !is_any    ? fmt::format("{}", fmt::join(undecided, " or "))
      : together ? is_gated ? "a gate if only its metric changes" : "a metric if only it changes"
      : is_gated ? "any gate"
                 : "any metric";
  const std::string why =
      shares ? fmt::format(
                   "{} comparisons share an error rate of {:g}%, so at least {} trials each are "
                   "needed",
                   planned.gate_rows, 100 * kAlpha, planned.least)
             : fmt::format("at least {} trials each are needed", planned.least);
  // With several candidates the number is that of the order that this seed draws.
  const auto& seed = run.config.measure.seed;
  const bool of_seed = seed && judged_candidates(run) > 1;
  return {"too_few_trials",
          fmt::format("{} each cannot decide {}, however large the change: {}",
                      format_count(static_cast<std::size_t>(blocks), "trial"), what, why),
          fmt::format("rerun with --repeats {} or more{}{}", planned.least,
                      of_seed ? fmt::format(" and --seed {}", *seed) : "",
                      shares && is_gated ? ", or with fewer gates" : "")};
}

}  // namespace

PlannedTrials planned_trials(const RunData& run, const AnalysisSettings& settings) {
  const bool is_restricted = settings.design == Design::restricted;
  PlannedTrials planned{is_restricted ? run_order(run) : std::nullopt, planned_looks(run, settings),
                        gates_that_share(run, settings)};
  const LeastTrials least(run, settings);
  const std::vector<Gate> gates = gates_to_decide(run, settings);
  std::vector<std::string> undecided;
  for (const Gate& gate : gates) {
    const int needed = least.of(gate);
    planned.least = std::max(planned.least, needed);
    if (needed > settings.looks.back().blocks) undecided.push_back(gate.role + "." + gate.metric);
  }
  // Where no gate decides, a default gate that these trials cannot decide is no reason for more.
  const bool has_deciding_gates = !settings.gates.empty() || default_gates_decide(settings);
  if (!has_deciding_gates && undecided.size() < gates.size()) undecided.clear();
  // A watched job is whole, what was measured apart has no plan that could be made longer, and of a
  // program beside itself nothing is judged.
  const bool is_watched = run.environment.is_object() && run.environment.contains("watched");
  if (!undecided.empty() && !is_watched && settings.design != Design::unpaired &&
      !judged_variants(view_config(run.config)).empty())
    planned.too_few =
        too_few_trials(run, settings, planned, undecided, undecided.size() == gates.size());
  return planned;
}

int fewest_deciding_blocks(const RunData& run, const AnalysisSettings& settings) {
  int blocks = exact_trials(gates_that_share(run, settings));
  const int candidates = judged_candidates(run);
  const LookPlan looks = planned_looks(run, settings).looks;
  for (const Gate& gate : expected_gates(run, settings)) {
    if (metric_info(gate.metric).exact) continue;
    blocks = std::max(blocks, kMinimumBlocks);
    if (!has_relative_bound(gate)) continue;
    while (blocks < looks.back().blocks &&
           reachable_p(run, settings, blocks).smallest_p * candidates > alpha_at(looks, blocks))
      ++blocks;
  }
  return std::min(blocks, looks.back().blocks);
}

CheckedLooks planned_looks(const RunData& run, const AnalysisSettings& settings) {
  // One arm alone is compared with nothing.
  if (view_config(run.config).arms.size() == 1) return {settings.looks, {}};
  const int gates = gates_that_share(run, settings);
  // Earlier versions corrected every gate by Holm.
  const int corrected = settings.design == Design::restricted ? judged_candidates(run) : gates;
  return check_looks(settings.looks, corrected,
                     [&](int blocks) { return reachable_p(run, settings, blocks).smallest_p; });
}

namespace {

/// Whether so many rounds decide the gate. Growth per minute is judged by rounds, too, but where
/// there are hardly any by time.
bool decides_by_rounds(const Gate& gate, std::size_t rounds, int warmup_rounds) {
  constexpr std::size_t kLeastForALine = 3;
  if (gate.advisory || gate.is_default || !is_growth_metric(gate.metric)) return false;
  return gate.metric != kRssGrowthPerMinute ||
         rounds >= growth_warmup(rounds, warmup_rounds) + kLeastForALine;
}

/// Keys that give every trial fewer rounds than needed, with their numbers.
std::map<std::string, int> short_keys(const Document& config, int needed) {
  std::map<std::string, int> found;
  const auto add = [&](const char* key, const std::optional<int>& rounds) {
    if (rounds && *rounds < needed) found[key] = *rounds;
  };
  add("rounds", config.rounds());
  add("stop_after_round", config.workload.job.stop_after_round);
  return found;
}

/// Of the role of the gate that marked most rounds in any trial.
struct MarkedRounds {
  std::size_t all = 0;
  std::size_t ended = 0;  ///< whose memory at the end is known
};

/// Absent where no trial has such a role.
std::optional<MarkedRounds> rounds_in(const RunData& run, const Gate& gate) {
  std::optional<MarkedRounds> most;
  for (const TrialData& trial : run.trials) {
    if (trial.status != TrialStatus::ok) continue;
    for (const RoleData& role : trial.roles) {
      if (gate.role != "*" && gate.role != role.role) continue;
      MarkedRounds marked{role.rounds.size(), 0};
      for (const RoundData& round : role.rounds)
        marked.ended += static_cast<std::size_t>(round.metrics.value(kEndRss).has_value());
      if (!most || marked.ended > most->ended) most = marked;
    }
  }
  return most;
}

/// How to make it so many rounds.
std::string more_rounds(const Document& config, int needed) {
  std::string advice;
  for (const auto& [key, rounds] : short_keys(config, needed))
    advice += fmt::format("{}--set workload.{}={}", advice.empty() ? "set " : " ", key, needed);
  return advice.empty() ? fmt::format("let the job run {} rounds", needed) : advice;
}

[[noreturn]] void refuse(const Gate& gate, std::size_t rounds, int needed, const std::string& when,
                         const Document& config) {
  throw Error(
      ExitCode::usage,
      fmt::format(
          "expected at least {} rounds, found {} {}: fewer rounds cannot distinguish growth "
          "from a warm-up",
          needed, rounds, when),
      fmt::format("gate '{}'", gate.text), more_rounds(config, needed) + ", or remove the gate");
}

}  // namespace

void refuse_growth_in_few_rounds(const Document& config, const AnalysisSettings& settings) {
  const int needed = rounds_to_judge_growth(settings.warmup_rounds);
  const std::map<std::string, int> found = short_keys(config, needed);
  if (found.empty()) return;
  const auto fewest =
      std::ranges::min_element(found, {}, [](const auto& rounds) { return rounds.second; });
  const auto planned = static_cast<std::size_t>(fewest->second);
  for (const Gate& gate : settings.gates)
    if (decides_by_rounds(gate, planned, settings.warmup_rounds))
      refuse(gate, planned, needed, "in the config", config);
}

void refuse_growth_in_few_rounds(const RunData& run, const AnalysisSettings& settings) {
  const auto needed = static_cast<std::size_t>(rounds_to_judge_growth(settings.warmup_rounds));
  for (const Gate& gate : settings.gates) {
    const auto rounds = rounds_in(run, gate);
    if (!rounds || rounds->ended >= needed ||
        !decides_by_rounds(gate, rounds->ended, settings.warmup_rounds))
      continue;
    // Where only begins are marked, the last round has no end that is read.
    const std::size_t without_end = std::min<std::size_t>(rounds->all - rounds->ended, 1);
    refuse(gate, rounds->all, static_cast<int>(needed + without_end), "in the warm-up trial",
           run.config);
  }
}

}  // namespace memduel
