// What is read from decided rows and judged gates: which candidate is best, and the answer to the
// whole run.

#include "verdict/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "model/metric_catalogue.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/analyse.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

double effect_of(const Comparison& c) {
  return c.ratio ? std::log(std::max(*c.ratio, 1e-300)) : c.difference.value_or(0);
}

}  // namespace

bool asks_for_improvement(const JobFacts& job, const GateResult& gate) {
  if (!gate.evidence.limit || gate.evidence.quantity == GateQuantity::value) return false;
  const double no_change = gate.evidence.quantity == GateQuantity::ratio ? 1 : 0;
  return metric_info(job, gate.metric).better == Direction::higher
             ? *gate.evidence.limit > no_change
             : *gate.evidence.limit < no_change;
}

std::set<std::string> failed_candidates(const Results& results) {
  std::set<std::string> failed;
  for (const GateResult& gate : results.gates)
    if (gate.fails()) failed.insert(gate.candidate);
  return failed;
}

std::vector<const Comparison*> ranked_rows(const Results& results, const Comparison& like) {
  const std::set<std::string> failed = failed_candidates(results);
  std::vector<const Comparison*> rows;
  for (const Comparison& c : results.comparisons)
    if (c.is_asked() && c.role == like.role && c.metric == like.metric && (c.ratio || c.difference))
      rows.push_back(&c);
  const bool more = metric_info(results.job, like.metric).better == Direction::higher;
  const double sign = more ? -1 : 1;
  std::ranges::stable_sort(rows, [&](const Comparison* a, const Comparison* b) {
    const bool a_failed = failed.contains(a->candidate);
    const bool b_failed = failed.contains(b->candidate);
    if (a_failed != b_failed) return b_failed;
    return sign * effect_of(*a) < sign * effect_of(*b);
  });
  return rows;
}

const Comparison* first_gate_row(const Results& results) {
  const auto row =
      std::ranges::find_if(results.comparisons, [](const Comparison& c) { return c.is_asked(); });
  return row == results.comparisons.end() ? nullptr : &*row;
}

bool told_apart(const Comparison& best, const Comparison& other) {
  if (!best.ci_low || !best.ci_high || !other.ci_low || !other.ci_high) return false;
  return *best.ci_high < *other.ci_low || *other.ci_high < *best.ci_low;
}

std::vector<std::string> ranked_candidates(const Results& results) {
  std::vector<std::string> ranked;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(ranked, name) == ranked.end()) ranked.push_back(name);
  };
  if (const Comparison* first = first_gate_row(results))
    for (const Comparison* row : ranked_rows(results, *first)) add(row->candidate);
  for (const ArmSummary& arm : results.arms)
    if (arm.name != results.baseline) add(arm.name);
  const std::set<std::string> failed = failed_candidates(results);
  std::ranges::stable_partition(ranked,
                                [&](const std::string& name) { return !failed.contains(name); });
  return ranked;
}

std::size_t CandidateOrder::rank(const std::string& candidate) const {
  return static_cast<std::size_t>(std::ranges::find(ranked_, candidate) - ranked_.begin());
}

namespace {

bool decides(const GateResult& gate) {
  return !gate.advisory;
}

const TrialData* first_failed(const Results& results, const std::string& arm) {
  const auto first = std::ranges::find_if(results.trials, [&](const TrialData& trial) {
    return (arm.empty() || trial.arm == arm) && !trial.failure.empty();
  });
  return first == results.trials.end() ? nullptr : &*first;
}

/// The last line of what the processes of a failed trial printed; empty if nothing was kept.
std::string last_printed(const std::string& failure) {
  constexpr std::string_view kMark = "\n  | ";
  constexpr std::size_t kMost = 200;
  const std::size_t mark = failure.rfind(kMark);
  if (mark == std::string::npos) return {};
  std::string line = valid_utf8(failure.substr(mark + kMark.size()));
  std::size_t end = 0;
  while (end < line.size() && end < kMost) end += character_length(line, end);
  return end < line.size() ? line.substr(0, end) + "…" : line;
}

/// "; the first: command exited with status 3 (“no input”)"; empty without a failure.
std::string failure_words(const TrialData* failed) {
  if (failed == nullptr) return {};
  const std::string printed = last_printed(failed->failure);
  return "; the first: " + failed->failure.substr(0, failed->failure.find('\n')) +
         (printed.empty() ? "" : fmt::format(" (“{}”)", printed));
}

/// Of a run that ended before a trial counted, for example because every warm-up trial failed.
std::string why_none_counted(const Results& results) {
  const TrialData* failed = first_failed(results, "");
  if (failed == nullptr) return "no trial was measured";
  const bool is_every = std::ranges::all_of(results.trials, [&](const TrialData& trial) {
    return trial.arm != failed->arm || trial.status != TrialStatus::ok;
  });
  return fmt::format("no trial was measured, because {} of {} failed{}",
                     is_every ? "every trial" : "a trial", failed->arm, failure_words(failed));
}

/// Why the variants that the answer needs gave nothing to compare; empty where they did.
std::string why_nothing(const Results& results, const std::vector<std::string>& judged) {
  if (std::ranges::all_of(results.arms, [](const ArmSummary& arm) {
        return arm.trials_ok + arm.trials_failed == 0;
      }))
    return why_none_counted(results);
  if (results.arms.size() == 1) return {};
  for (const ArmSummary& arm : results.arms) {
    const bool is_needed =
        arm.name == results.baseline || std::ranges::find(judged, arm.name) != judged.end();
    if (!is_needed || arm.trials_ok > 0) continue;
    return arm.trials_failed == 0 ? fmt::format("no trial of {} was measured", arm.name)
                                  : fmt::format("every trial of {} failed{}", arm.name,
                                                failure_words(first_failed(results, arm.name)));
  }
  return results.comparisons.empty() ? "no metric was measured in two variants" : "";
}

OverallOutcome outcome_of(const Results& results, bool is_nothing) {
  const auto any = [&](auto holds) {
    return std::ranges::any_of(
        results.gates, [&](const GateResult& gate) { return decides(gate) && holds(gate); });
  };
  if (gate_failed(results)) return OverallOutcome::failed;
  if (is_nothing || any([](const GateResult& gate) { return gate.not_measured; }))
    return OverallOutcome::not_measured;
  if (any([](const GateResult& gate) { return gate.outcome == GateOutcome::inconclusive; }))
    return OverallOutcome::inconclusive;
  return any([](const GateResult& /*gate*/) { return true; }) ? OverallOutcome::passed
                                                              : OverallOutcome::no_gates;
}

ExitCode exit_code_for(const Results& results, OverallOutcome outcome) {
  switch (outcome) {
    case OverallOutcome::failed:
      return ExitCode::gate_failed;
    case OverallOutcome::not_measured:
      return ExitCode::cannot_measure;
    case OverallOutcome::inconclusive: {
      const bool counts = std::ranges::any_of(
          results.gates, [](const GateResult& gate) { return gate.exit_code != 0; });
      return counts ? ExitCode::inconclusive : ExitCode::ok;
    }
    case OverallOutcome::passed:
    case OverallOutcome::no_gates:
      break;
  }
  return ExitCode::ok;
}

std::optional<std::string> best_of(const Results& results, const std::vector<std::string>& judged) {
  const Comparison* first = first_gate_row(results);
  if (first == nullptr) return std::nullopt;
  const std::set<std::string> failed = failed_candidates(results);
  for (const Comparison* row : ranked_rows(results, *first)) {
    const bool is_judged = std::ranges::find(judged, row->candidate) != judged.end();
    if (is_judged && row->verdict == Verdict::improved && !failed.contains(row->candidate))
      return row->candidate;
  }
  return std::nullopt;
}

}  // namespace

Overall overall_of(const Results& results, const std::vector<std::string>& judged) {
  Overall overall;
  overall.nothing = why_nothing(results, judged);
  overall.outcome = outcome_of(results, !overall.nothing.empty());
  overall.exit_code = static_cast<int>(exit_code_for(results, overall.outcome));
  overall.best = best_of(results, judged);
  return overall;
}

bool settled(const Results& results) {
  if (results.gates.empty()) return false;
  const bool gates_decided = std::ranges::all_of(results.gates, [](const GateResult& gate) {
    return !decides(gate) || (gate.outcome != GateOutcome::inconclusive && !gate.not_measured);
  });
  const bool rows_decided = std::ranges::all_of(results.comparisons, [](const Comparison& row) {
    return !row.gate || row.verdict != Verdict::inconclusive;
  });
  return gates_decided && rows_decided;
}

std::vector<double> values_in_trials(const Results& results, const std::string& variant,
                                     const std::string& role, const std::string& metric) {
  std::vector<double> values;
  for (const TrialData& trial : results.trials)
    if (const auto value = trial.value(role, metric);
        value && trial.counts() && trial.arm == variant)
      values.push_back(*value);
  return values;
}

bool gate_failed(const Results& results) {
  return std::ranges::any_of(results.gates, &GateResult::fails);
}

std::vector<std::string> arms_to_explain(const Results& results) {
  if (results.is_alone()) return {results.baseline};
  std::vector<std::string> arms;
  const auto add = [&](const std::string& candidate) {
    if (arms.empty()) arms.push_back(results.baseline);
    if (std::ranges::find(arms, candidate) == arms.end()) arms.push_back(candidate);
  };
  for (const GateResult& gate : results.gates)
    if (gate.fails() && !gate.candidate_failed) add(gate.candidate);
  for (const Comparison& row : results.comparisons)
    if (row.is_asked() && row.is_change() && !row.is_of_dead() &&
        metric_info(row.metric).unit != Unit::seconds)
      add(row.candidate);
  return arms;
}

}  // namespace memduel
