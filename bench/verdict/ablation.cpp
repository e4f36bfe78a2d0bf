// Which switch matters: every switch added alone to the baseline and left out of the candidate,
// each an arm that was measured, never a derived number.
//
// A cell compares its arm with its reference (the baseline for "added alone", the candidate for
// "left out") as a row of a comparison is compared: Hodges-Lehmann effect, interval and verdict
// from the test of a shift. The cells are advisory: their p-values are corrected by Benjamini
// and Hochberg, those of whole trials in one family and those of phases in another, and never enter
// the correction of the gates.
//
// Interaction: when switches did not influence each other, the effects of all of them added alone
// would add up to the effect of the whole, and so would the effects that they have beside all the
// others (candidate minus left out). The remainder is what is left over, its interval that of the
// sums of each block's trials.
//
// phase_peaks makes the peak of every phase a metric, so that phases are compared as trials are.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis_steps.h"
#include "model/metric_catalogue.h"
#include "stats/hypothesis_tests.h"
#include "verdict/comparison.h"
#include "verdict/gates.h"
#include "verdict/results.h"

namespace memduel {

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

/// One metric of one role, for whole trials or in one phase.
struct AblationSubject {
  const Inquiry& inquiry;
  std::string role;
  std::string metric;
  std::optional<std::string> phase;
  std::string key;  ///< the metric's name in `observations`
  const Observations& observations;
};

std::map<int, double> values_by_block(const AblationSubject& subject, const std::string& arm) {
  std::map<int, double> values;
  const ArmObservations* found = find_arm(subject.observations, arm);
  if (found == nullptr) return values;
  for (const Observation& trial : found->trials)
    if (trial.status == TrialStatus::ok)
      if (const auto value = value_of(trial, subject.role, subject.key))
        values.emplace(trial.block, *value);
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

/// Why no variant measures a cell; empty where one does.
std::string why_not(const PlannedCell& cell) {
  if (cell.variant) return {};
  return cell.idle ? "has no effect: " + *cell.idle : "not possible: " + cell.refused.value_or("");
}

/// A cell before the verdicts of its family.
struct MeasuredCell {
  PlannedCell planned;
  std::string reference;
  std::string no_value;  ///< why nothing is compared
  std::optional<MeasuredRow> row;
};

MeasuredCell measure_cell(const AblationSubject& subject, const PlannedCell& planned,
                          const std::string& reference) {
  MeasuredCell cell{planned, reference, why_not(planned), std::nullopt};
  if (!planned.variant) return cell;
  const AnalysisSettings& settings = subject.inquiry.settings;
  cell.no_value = fmt::format("no pair of trials has {} in both {} and {}",
                              subject.phase ? "phase " + *subject.phase : subject.metric,
                              *planned.variant, reference);
  const ArmObservations* a = find_arm(subject.observations, reference);
  const ArmObservations* b = find_arm(subject.observations, *planned.variant);
  if (a == nullptr || b == nullptr) return cell;
  MetricInfo info = metric_info(subject.inquiry.run.job, subject.metric);
  info.name = subject.key;
  const auto& order = subject.inquiry.order;
  RowValues values =
      row_values(*a, *b, subject.role, info, settings.design, order ? &*order : nullptr);
  if (values.baseline.empty()) return cell;
  // Calibrations know whole trials only.
  const auto floor = subject.phase
                         ? std::nullopt
                         : noise_floor(settings.calibration, {subject.role, subject.metric});
  cell.row = measure_row({info, settings.design, floor}, std::move(values));
  return cell;
}

AblationCell decided_cell(const MeasuredCell& measured, const RowLevel& level) {
  AblationCell cell;
  cell.arm = measured.planned.variant;
  cell.idle = measured.planned.idle.has_value();
  cell.reference = measured.reference;
  cell.reason = measured.no_value;
  if (!measured.row) return cell;
  const Comparison row = decide(*measured.row, level).comparison;
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
  return cell;
}

/// The candidate as a whole, then each switch added alone and left out.
struct MeasuredTable {
  AblationSubject subject;
  std::vector<MeasuredCell> cells;
};

MeasuredTable measure_table(const AblationSubject& subject) {
  const Document& config = subject.inquiry.run.config;
  const std::string& candidate = config.ablation->candidate;
  MeasuredTable table{subject, {measure_cell(subject, {candidate, {}, {}}, config.baseline)}};
  for (const PlannedSwitch& one : config.ablation->switches) {
    table.cells.push_back(measure_cell(subject, one.added_alone, config.baseline));
    table.cells.push_back(measure_cell(subject, one.removed_alone, candidate));
  }
  return table;
}

bool has_row(const MeasuredCell& cell) {
  return cell.row.has_value();
}

/// All cells are one family: each is decided at its own corrected p.
std::vector<std::vector<AblationCell>> decide_cells(const std::vector<MeasuredTable>& tables) {
  std::vector<double> p;
  for (const MeasuredTable& table : tables)
    for (const MeasuredCell& cell : table.cells)
      if (cell.row && cell.row->p_value) p.push_back(*cell.row->p_value);
  const std::vector<double> adjusted = benjamini_hochberg(p);
  std::size_t next = 0;
  std::vector<std::vector<AblationCell>> decided;
  for (const MeasuredTable& table : tables) {
    std::vector<AblationCell>& cells = decided.emplace_back();
    for (const MeasuredCell& cell : table.cells) {
      RowLevel level{kAlpha, static_cast<int>(p.size())};
      if (cell.row && cell.row->p_value) level.p_adjusted = adjusted[next++];
      cells.push_back(decided_cell(cell, level));
    }
  }
  return decided;
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

/// Rows and total of each subject of which anything was measured.
void add_tables(Ablation& ablation, const std::vector<AblationSubject>& subjects) {
  std::vector<MeasuredTable> tables;
  for (const AblationSubject& subject : subjects) {
    MeasuredTable table = measure_table(subject);
    if (std::ranges::any_of(table.cells, has_row)) tables.push_back(std::move(table));
  }
  const std::vector<std::vector<AblationCell>> decided = decide_cells(tables);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const AblationSubject& subject = tables[i].subject;
    const JobFacts& job = subject.inquiry.run.job;
    const std::vector<AblationCell>& cells = decided[i];
    std::vector<AblationRow> rows;
    for (const PlannedSwitch& one : subject.inquiry.run.config.ablation->switches) {
      const std::size_t first = 1 + 2 * rows.size();
      AblationRow& row = rows.emplace_back(AblationRow{
          one.name, subject.role, subject.metric, subject.phase, cells[first], cells[first + 1]});
      row.effect = effect_of(row);
    }
    ablation.totals.push_back({subject.role, subject.metric, subject.phase, cells.front(),
                               sum_of(kAddedAlone, subject, rows, cells.front()),
                               sum_of(kLeftOut, subject, rows, cells.front())});
    std::ranges::stable_sort(rows, [&](const AblationRow& a, const AblationRow& b) {
      return saving(job, a) > saving(job, b);
    });
    std::ranges::move(rows, std::back_inserter(ablation.rows));
  }
}

/// Phases in the order in which the trials went through them.
std::vector<AblationSubject> phase_subjects(const Inquiry& inquiry,
                                            const std::vector<RoleMetric>& metrics,
                                            const Observations& observations) {
  std::vector<std::string> phases;
  for (const TrialData& trial : inquiry.run.trials)
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
            {inquiry, role, metric, phase, phase_metric(phase, metric), observations});
  return subjects;
}

Note not_possible(const Document& config) {
  std::string list;
  const auto add = [&](const PlannedCell& cell, const std::string& what) {
    if (cell.variant) return;
    list += fmt::format("{}{} ({})", list.empty() ? "" : "; ", what, why_not(cell));
  };
  for (const PlannedSwitch& one : config.ablation->switches) {
    add(one.added_alone, fmt::format("{} added to {}", one.name, config.baseline));
    add(one.removed_alone, fmt::format("{} removed from {}", one.name, config.ablation->candidate));
  }
  if (list.empty()) return {};
  return {"ablation_not_possible", "not measured: " + list,
          "see the other column for the effect of such a switch"};
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
  if (has(job.reference)) add(job.reference, kPeakRss);
  for (const RoleGroup& group : job.groups)
    if (has(group.largest())) add(group.largest(), kPeakRss);
  for (const Gate& gate : gates) {
    if (gate.role != "*") add(gate.role, gate.metric);
    for (const std::string& role : roles)
      if (gate.role == "*") add(role, gate.metric);
  }
  if (has(job.reference))
    for (const char* duration : {kRoundSeconds, kTransferSeconds}) add(job.reference, duration);
  return metrics;
}

Ablation ablate(const Inquiry& inquiry, const std::vector<RoleMetric>& metrics) {
  Ablation ablation;
  if (!inquiry.run.config.ablation) return ablation;
  const Observations phases =
      observe(phase_peaks(inquiry.run), inquiry.view.arms, inquiry.settings.warmup_rounds);
  std::vector<AblationSubject> whole_trials;
  for (const RoleMetric& metric : metrics)
    whole_trials.push_back(
        {inquiry, metric.role, metric.metric, std::nullopt, metric.metric, inquiry.observations});
  add_tables(ablation, whole_trials);
  add_tables(ablation, phase_subjects(inquiry, metrics, phases));
  if (Note note = not_possible(inquiry.run.config); !note.code.empty())
    ablation.limitations.push_back(std::move(note));
  return ablation;
}

}  // namespace memduel
