#include "verdict/so_far.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis_steps.h"
#include "model/experiment_view.h"
#include "stats/estimates.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

RoleMetric row_of_gates(const std::vector<Gate>& gates) {
  const auto first =
      std::ranges::find_if(gates, [](const Gate& gate) { return !is_growth_metric(gate.metric); });
  return first == gates.end() ? RoleMetric{kTree, kPeakRss}
                              : RoleMetric{first->role, first->metric};
}

/// Default gates have no order that means anything: peak RSS is what people look at first.
RoleMetric row_of_default_gates(const std::vector<Gate>& gates) {
  const auto rss = std::ranges::find(gates, kPeakRss, &Gate::metric);
  return {rss == gates.end() ? kTree : rss->role, kPeakRss};
}

/// The values of one metric, and those that a group's peak above start-up is derived from.
TrialData only_metric(const TrialData& trial, const std::string& metric) {
  const std::array<std::string, 4> kept = {metric, kPeakRss, kIdleRss, kPeakRssAboveIdle};
  const auto only = [&](const Metrics& metrics) {
    Metrics few;
    for (const std::string& name : kept)
      if (const auto value = metrics.value(name)) few[name] = *value;
    return few;
  };
  TrialData small;
  small.block = trial.block;
  small.arm = trial.arm;
  for (const RoleData& role : trial.roles) {
    RoleData& own = small.roles.emplace_back();
    own.role = role.role;
    own.metrics = only(role.metrics);
    std::vector<RoundData> rounds;
    for (const RoundData& round : role.rounds) {
      rounds.emplace_back();
      rounds.back().metrics = only(round.metrics);
    }
    own.rounds = std::move(rounds);
  }
  return small;
}

/// Of `*` all processes, or the first role that has the metric.
std::optional<double> value_in(const Observation& trial, const RoleMetric& row) {
  if (row.role != "*") return value_of(trial, row.role, row.metric);
  if (const auto of_all = value_of(trial, kTree, row.metric)) return of_all;
  for (const auto& [role, metrics] : trial.roles)
    if (const auto value = metrics.value(row.metric)) return value;
  return std::nullopt;
}

}  // namespace

SoFar::SoFar(const Document& config, JobFacts job, const AnalysisSettings& settings)
    : job_(std::move(job)), warmup_rounds_(settings.warmup_rounds) {
  const ExperimentView view = view_config(config);
  baseline_ = view.baseline;
  candidates_ = judged_variants(view);
  std::erase(candidates_, baseline_);
  row_ = settings.gates.empty() ? row_of_default_gates(default_gates(job_))
                                : row_of_gates(settings.gates);
}

void SoFar::add(const TrialData& trial) {
  if (!trial.counts() || trial.harness_fault) return;
  const Observations seen =
      observe({only_metric(trial, row_.metric)}, job_, {trial.arm}, warmup_rounds_);
  if (seen.arms.front().trials.empty()) return;
  if (const auto value = value_in(seen.arms.front().trials.front(), row_))
    values_[trial.block][trial.arm] = *value;
}

void SoFar::drop(int block) {
  values_.erase(block);
}

std::vector<ChangeSoFar> SoFar::changes() const {
  std::vector<ChangeSoFar> changes;
  for (const std::string& candidate : candidates_) {
    RowValues both;
    for (const auto& [block, values] : values_) {
      const auto a = values.find(baseline_);
      const auto b = values.find(candidate);
      if (a == values.end() || b == values.end()) continue;
      both.baseline.push_back(a->second);
      both.candidate.push_back(b->second);
    }
    if (both.baseline.size() < 2) continue;
    const RowScale scale = scale_of(metric_info(job_, row_.metric), both);
    const std::vector<double> a = scale.of(both.baseline);
    std::vector<double> differences = scale.of(both.candidate);
    for (std::size_t i = 0; i < a.size(); ++i) differences[i] -= a[i];
    const MeanInterval mean = mean_interval(differences, kAlpha);
    changes.push_back({baseline_, candidate, row_, scale, mean.mean, mean.interval,
                       static_cast<int>(differences.size())});
  }
  return changes;
}

}  // namespace memduel
