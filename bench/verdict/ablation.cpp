// An ablation: the peaks of phases as metrics, what the effects of all switches come to with the
// interaction that is left over, and the rows.

#include "ablation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/metric_catalogue.h"
#include "stats/hypothesis_tests.h"
#include "verdict/comparison.h"
#include "verdict/gates.h"
#include "verdict/results.h"

namespace memduel {

/// One metric of one role, for whole trials or in one phase.
struct AblationSubject {
  const JobFacts& job;
  std::string role;
  std::string metric;
  std::optional<std::string> phase;
  std::string key;  ///< the metric's name in `observations`
  const Observations* observations = nullptr;
  const RunOrder* order = nullptr;  ///< of a restricted design
};

/// The effects of switches added to the baseline. `whole` is the candidate against the baseline.
AblationSum sum_added_alone(const AblationSubject& subject, const std::vector<AblationRow>& rows,
                            const AblationCell& whole);

/// The effects that the switches have beside all the others: candidate minus left out.
AblationSum sum_left_out(const AblationSubject& subject, const std::vector<AblationRow>& rows,
                         const AblationCell& whole);

std::string phase_metric(const std::string& phase, const std::string& metric) {
  return phase + "." + metric;
}

RunData phase_peaks(const RunData& run) {
  RunData peaks = run;
  for (TrialData& trial : peaks.trials) {
    for (RoleData& role : trial.roles) {
      const auto idle = role.metrics.value(kIdleRss);
      Metrics metrics;
      for (const RoundData& round : role.rounds) {
        for (const PhaseData& phase : round.phases) {
          const auto peak = phase.metrics.value(kPeakRss);
          if (!peak) continue;
          const double value = idle ? std::max(0.0, *peak - *idle) : *peak;
          double& highest =
              metrics.emplace(phase_metric(phase.phase, idle ? kPeakRssAboveIdle : kPeakRss), value)
                  .first->second;
          highest = std::max(highest, value);
        }
      }
      role.metrics = std::move(metrics);
      role.rounds.clear();
    }
  }
  return peaks;
}

namespace {

std::optional<double> value_of(const Observation& trial, const AblationSubject& subject) {
  if (trial.status != TrialStatus::ok) return std::nullopt;
  return value_of(trial, subject.role, subject.key);
}

std::map<int, double> values_by_block(const AblationSubject& subject, const std::string& arm) {
  std::map<int, double> values;
  const ArmObservations* found = find_arm(*subject.observations, arm);
  if (found == nullptr) return values;
  for (const Observation& trial : found->trials)
    if (const auto value = value_of(trial, subject)) values.emplace(trial.block, *value);
  return values;
}

/// The arms whose values are added up in each block, with their signs: their sum is the remainder.
using Terms = std::vector<std::pair<std::string, double>>;

/// Both sides of the remainder, block by block: the sum of the positive and of the negative terms.
struct BlockSums {
  std::vector<double> less;
  std::vector<double> more;
};

BlockSums sums_by_block(const AblationSubject& subject, const Terms& terms) {
  std::map<int, std::pair<double, double>> sums;
  std::map<int, std::size_t> counted;
  for (const auto& [arm, factor] : terms) {
    for (const auto& [block, value] : values_by_block(subject, arm)) {
      (factor > 0 ? sums[block].second : sums[block].first) += std::abs(factor) * value;
      ++counted[block];
    }
  }
  BlockSums whole;
  for (const auto& [block, sum] : sums) {
    if (counted[block] != terms.size()) continue;
    whole.less.push_back(sum.first);
    whole.more.push_back(sum.second);
  }
  return whole;
}

void add_interval(AblationSum& out, const AblationSubject& subject, const Terms& terms) {
  const BlockSums sums = sums_by_block(subject, terms);
  out.n = static_cast<int>(sums.less.size());
  if (out.n < kMinimumBlocks) return;
  const Interval interval = ShiftTest(sums.less, sums.more, Design::paired).interval(kAlpha);
  if (std::isfinite(interval.low)) out.ci_low = interval.low;
  if (std::isfinite(interval.high)) out.ci_high = interval.high;
}

/// How the effects of one view add up.
struct View {
  AblationCell AblationRow::* cell;
  double sign;  ///< of the cell's difference as the switch's effect
};
constexpr View kAddedAlone = {&AblationRow::added_alone, 1};
constexpr View kLeftOut = {&AblationRow::left_out, -1};

/// remainder = (candidate - baseline) - sum over switches of sign × (arm - reference).
AblationSum sum_of(const View& view, const AblationSubject& subject,
                   const std::vector<AblationRow>& rows, const AblationCell& whole) {
  AblationSum out;
  Terms terms = {{*whole.arm, 1}, {whole.reference, -1}};
  double sum = 0;
  std::size_t measured = 0;
  for (const AblationRow& row : rows) {
    const AblationCell& cell = row.*view.cell;
    if (cell.idle) continue;  // an effect of 0
    if (!cell.difference) {
      out.missing.push_back(row.optimization);
      continue;
    }
    sum += view.sign * *cell.difference;
    terms.emplace_back(*cell.arm, -view.sign);
    terms.emplace_back(cell.reference, view.sign);
    ++measured;
  }
  if (measured == 0 || !whole.difference) return out;
  out.sum = sum;
  out.remainder = *whole.difference - sum;
  std::map<std::string, double> collected;
  for (const auto& [arm, factor] : terms) collected[arm] += factor;
  Terms distinct;
  for (const auto& [arm, factor] : collected)
    if (factor != 0) distinct.emplace_back(arm, factor);
  if (distinct.empty()) {  // every term is there with both signs: the remainder is 0 by definition
    out.n = whole.n;
    out.ci_low = out.ci_high = 0;
    return out;
  }
  add_interval(out, subject, distinct);
  return out;
}

}  // namespace

AblationSum sum_added_alone(const AblationSubject& subject, const std::vector<AblationRow>& rows,
                            const AblationCell& whole) {
  return sum_of(kAddedAlone, subject, rows, whole);
}

AblationSum sum_left_out(const AblationSubject& subject, const std::vector<AblationRow>& rows,
                         const AblationCell& whole) {
  return sum_of(kLeftOut, subject, rows, whole);
}

namespace {

/// A cell whose verdict waits for its family.
struct PendingCell {
  AblationCell* cell;
  MeasuredRow row;
};

MetricInfo info_of(const AblationSubject& subject) {
  MetricInfo info = metric_info(subject.job, subject.metric);
  info.name = subject.key;
  return info;
}

std::string no_value(const AblationSubject& subject, const std::string& arm,
                     const std::string& reference) {
  return fmt::format("no block has {} in both {} and {}",
                     subject.phase ? "phase " + *subject.phase : subject.metric, arm, reference);
}

/// Measures `arm` against `reference`; nothing is pending where there is no value to compare.
std::optional<MeasuredRow> measure_cell(AblationCell& cell, const AblationSubject& subject,
                                        const AnalysisSettings& settings) {
  const ArmObservations* reference = find_arm(*subject.observations, cell.reference);
  const ArmObservations* arm = find_arm(*subject.observations, *cell.arm);
  if (reference == nullptr || arm == nullptr) {
    cell.reason = no_value(subject, *cell.arm, cell.reference);
    return std::nullopt;
  }
  const MetricInfo info = info_of(subject);
  RowValues values =
      row_values(*reference, *arm, subject.role, info, settings.design, subject.order);
  if (values.baseline.empty()) {
    cell.reason = no_value(subject, *cell.arm, cell.reference);
    return std::nullopt;
  }
  // Calibrations know whole trials only.
  const auto floor = subject.phase
                         ? std::nullopt
                         : noise_floor(settings.calibration, {subject.role, subject.metric});
  return measure_row(info, std::move(values), settings.design, floor);
}

void fill(AblationCell& cell, const Comparison& row) {
  cell.reference_median = row.baseline_median;
  cell.median = row.candidate_median;
  cell.ratio = row.ratio;
  cell.difference = row.difference;
  cell.ci_low = row.ci_low;
  cell.ci_high = row.ci_high;
  cell.p_adjusted = row.p_adjusted;
  cell.n = row.n_candidate;
  cell.verdict = row.verdict;
  cell.reason = row.reason;
}

void decide_family(std::vector<PendingCell>& family) {
  std::vector<double> p;
  for (const PendingCell& pending : family)
    if (pending.row.test) p.push_back(*pending.row.comparison.p_value);
  const std::vector<double> adjusted = benjamini_hochberg(p);
  std::size_t next = 0;
  for (PendingCell& pending : family) {
    if (pending.row.test) pending.row.comparison.p_adjusted = adjusted[next++];
    decide(pending.row, kAlpha, static_cast<int>(p.size()));
    fill(*pending.cell, pending.row.comparison);
  }
}

AblationCell start_cell(const AblationArm& arm, const std::string& reference) {
  AblationCell cell;
  cell.arm = arm.arm;
  cell.idle = arm.idle;
  cell.reference = reference;
  if (!arm.arm) cell.reason = arm.why_not;
  return cell;
}

/// The rows of one subject and the candidate as a whole, before their verdicts.
struct Table {
  AblationSubject subject;
  std::vector<AblationRow> rows;
  AblationTotal total;
};

Table start_table(const AblationSubject& subject, const ExperimentView& view) {
  Table table{subject, {}, {}};
  table.total.role = subject.role;
  table.total.metric = subject.metric;
  table.total.phase = subject.phase;
  table.total.whole = start_cell({view.ablation->candidate, false, ""}, view.baseline);
  for (const AblationSwitch& one : view.ablation->switches)
    table.rows.push_back({one.name, subject.role, subject.metric, subject.phase,
                          start_cell(one.added_alone, view.baseline),
                          start_cell(one.left_out, view.ablation->candidate),
                          SwitchEffect::inconclusive});
  return table;
}

/// Whether anything was measured for the table at all.
bool measure(Table& table, const AnalysisSettings& settings, std::vector<PendingCell>& family) {
  std::vector<PendingCell> pending;
  const auto add = [&](AblationCell& cell) {
    if (!cell.arm) return;
    if (auto row = measure_cell(cell, table.subject, settings))
      pending.push_back({&cell, std::move(*row)});
  };
  add(table.total.whole);
  for (AblationRow& row : table.rows) {
    add(row.added_alone);
    add(row.left_out);
  }
  const bool any = !pending.empty();
  std::move(pending.begin(), pending.end(), std::back_inserter(family));
  return any;
}

SwitchEffect effect_of(const AblationRow& row) {
  const auto either = [&](Verdict added, Verdict left_out) {
    return (row.added_alone.arm && row.added_alone.verdict == added) ||
           (row.left_out.arm && row.left_out.verdict == left_out);
  };
  const bool saves = either(Verdict::improved, Verdict::regressed);
  const bool costs = either(Verdict::regressed, Verdict::improved);
  if (saves && costs) return SwitchEffect::mixed;
  if (saves) return SwitchEffect::saves;
  if (costs) return SwitchEffect::costs;
  if (either(Verdict::changed, Verdict::changed)) return SwitchEffect::changes;
  if (either(Verdict::inconclusive, Verdict::inconclusive)) return SwitchEffect::inconclusive;
  const bool known =
      either(Verdict::unchanged, Verdict::unchanged) || (row.added_alone.idle && row.left_out.idle);
  return known ? SwitchEffect::nothing : SwitchEffect::inconclusive;
}

/// What the switch saves at best, in the metric's unit: alone, or beside all the others.
double saving(const JobFacts& job, const AblationRow& row) {
  double best = -HUGE_VAL;
  if (row.added_alone.difference) best = std::max(best, -*row.added_alone.difference);
  if (row.left_out.difference) best = std::max(best, *row.left_out.difference);
  const bool more = metric_info(job, row.metric).better == Direction::higher;
  return more && !std::isinf(best) ? -best : best;
}

std::vector<Table> tables_of(const std::vector<AblationSubject>& subjects,
                             const ExperimentView& view, const AnalysisSettings& settings) {
  std::vector<Table> tables;
  tables.reserve(subjects.size());  // cells are pointed at until their family is decided
  std::vector<PendingCell> family;
  for (const AblationSubject& subject : subjects) {
    tables.push_back(start_table(subject, view));
    if (!measure(tables.back(), settings, family)) tables.pop_back();
  }
  decide_family(family);
  for (Table& table : tables) {
    for (AblationRow& row : table.rows) row.effect = effect_of(row);
    table.total.added_alone = sum_added_alone(table.subject, table.rows, table.total.whole);
    table.total.left_out = sum_left_out(table.subject, table.rows, table.total.whole);
    const JobFacts& job = table.subject.job;
    std::ranges::stable_sort(table.rows, [&](const AblationRow& a, const AblationRow& b) {
      return saving(job, a) > saving(job, b);
    });
  }
  return tables;
}

/// Phases in the order in which the trials went through them.
std::vector<AblationSubject> phase_subjects(const RunData& run,
                                            const std::vector<RoleMetric>& metrics,
                                            const Observations& observations,
                                            const RunOrder* order) {
  std::vector<std::string> phases;
  for (const TrialData& trial : run.trials)
    for (const RoleData& role : trial.roles)
      for (const RoundData& round : role.rounds)
        for (const PhaseData& phase : round.phases)
          if (std::ranges::find(phases, phase.phase) == phases.end()) phases.push_back(phase.phase);
  std::vector<std::string> roles;
  for (const RoleMetric& metric : metrics)
    if (std::ranges::find(roles, metric.role) == roles.end()) roles.push_back(metric.role);
  std::vector<AblationSubject> subjects;
  for (const std::string& role : roles)
    for (const std::string& phase : phases)
      for (const char* metric : {kPeakRssAboveIdle, kPeakRss})
        subjects.push_back(
            {run.job, role, metric, phase, phase_metric(phase, metric), &observations, order});
  return subjects;
}

Note not_possible(const ExperimentView& view) {
  std::string list;
  const auto add = [&](const AblationArm& cell, const std::string& what) {
    if (cell.arm) return;
    list += fmt::format("{}{} ({})", list.empty() ? "" : "; ", what, cell.why_not);
  };
  for (const AblationSwitch& one : view.ablation->switches) {
    add(one.added_alone, fmt::format("{} added to {}", one.name, view.baseline));
    add(one.left_out, fmt::format("{} left out of {}", one.name, view.ablation->candidate));
  }
  if (list.empty()) return {};
  return {"ablation_not_possible", "cells without an arm: " + list,
          "such a switch is measured on the other side, where it can act there"};
}

}  // namespace

std::vector<RoleMetric> ablation_metrics(const std::vector<Gate>& gates,
                                         const std::vector<std::string>& roles,
                                         const JobFacts& job) {
  std::vector<RoleMetric> metrics;
  const auto has = [&](const std::string& role) {
    return std::ranges::find(roles, role) != roles.end();
  };
  const auto add = [&](const std::string& role, const std::string& metric) {
    const RoleMetric wanted{role, metric};
    if (std::ranges::find(metrics, wanted) == metrics.end()) metrics.push_back(wanted);
  };
  if (has(job.reference)) add(job.reference, kPeakRssAboveIdle);
  for (const RoleGroup& group : job.groups)
    if (has(group.largest())) add(group.largest(), kPeakRssAboveIdle);
  for (const Gate& gate : gates) {
    if (gate.role != "*") add(gate.role, gate.metric);
    for (const std::string& role : roles)
      if (gate.role == "*") add(role, gate.metric);
  }
  if (has(job.reference))
    for (const char* duration : {kRoundSeconds, kTransferSeconds}) add(job.reference, duration);
  return metrics;
}

Ablation ablate(const RunData& run, const ExperimentView& view,
                const std::vector<RoleMetric>& metrics, const AnalysisSettings& settings) {
  Ablation ablation;
  if (!view.ablation) return ablation;
  const Observations trials = observe(run, view.arms, settings.warmup_rounds);
  const Observations phases = observe(phase_peaks(run), view.arms, settings.warmup_rounds);
  const std::optional<RunOrder> order =
      settings.design == Design::restricted ? run_order(run) : std::nullopt;
  const RunOrder* planned = order ? &*order : nullptr;
  std::vector<AblationSubject> whole_trials;
  for (const RoleMetric& metric : metrics)
    whole_trials.push_back(
        {run.job, metric.role, metric.metric, std::nullopt, metric.metric, &trials, planned});
  for (const auto& subjects : {whole_trials, phase_subjects(run, metrics, phases, planned)}) {
    for (Table& table : tables_of(subjects, view, settings)) {
      std::move(table.rows.begin(), table.rows.end(), std::back_inserter(ablation.rows));
      ablation.totals.push_back(std::move(table.total));
    }
  }
  if (Note note = not_possible(view); !note.code.empty())
    ablation.limitations.push_back(std::move(note));
  return ablation;
}

}  // namespace memduel
