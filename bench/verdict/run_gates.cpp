// All gates of a run, each on every variant and role that it judges, and the answer to the whole
// run.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "model/job_facts.h"
#include "model/metric_catalogue.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/analyse.h"
#include "verdict/gates.h"
#include "verdict/results.h"

namespace memduel {
namespace {

const MeasuredRow* compared_row(const RunGates& all, const std::string& candidate,
                                const std::string& role, const std::string& metric) {
  const auto found = std::ranges::find_if(all.rows, [&](const MeasuredRow& row) {
    const Comparison& out = row.comparison;
    return out.candidate == candidate && out.role == role && out.metric == metric;
  });
  return found == all.rows.end() ? nullptr : &*found;
}

/// Of a variant that nothing is compared with.
void add_failures(GateSubject& subject, const ArmObservations& variant) {
  for (const Observation& trial : variant.trials) {
    if (trial.status == TrialStatus::ok) continue;
    if (subject.failed++ == 0) subject.failure = trial.failure;
  }
  if (subject.failed > 0)
    subject.failure = fmt::format("{} of {} failed; the first time {}", subject.failed,
                                  format_count(variant.trials.size(), "trial"),
                                  subject.failure.substr(0, subject.failure.find('\n')));
}

/// Nothing where neither the variant nor its comparison has the metric.
std::optional<GateSubject> subject_for(const RunGates& all, const ArmObservations& variant,
                                       const std::string& role, const std::string& metric) {
  const MeasuredRow* row = compared_row(all, variant.arm, role, metric);
  const Growth* growth = growth_of(all.growth, variant.arm, role, metric);
  GateSubject subject = row != nullptr ? subject_of(*row, growth) : GateSubject();
  // What a ceiling bounds needs no trial of the baseline beside it.
  subject.values = values_of(variant, role, metric);
  if (row != nullptr) return subject;
  if (subject.values.empty() && growth == nullptr) return std::nullopt;
  subject.candidate = variant.arm;
  subject.role = role;
  subject.growth = growth;
  subject.why_no_row =
      fmt::format("no trial of {} gave {} for {}", all.view.baseline, metric, role);
  subject.is_whole_run = all.run.environment.is_object() && all.run.environment.contains("watched");
  add_failures(subject, variant);
  return subject;
}

bool has_values(const ArmObservations& variant, const Gate& gate) {
  return std::ranges::any_of(variant.trials, [&](const Observation& trial) {
    return value_of(trial, gate.role, gate.metric).has_value();
  });
}

std::string why_not_measured(const RunGates& all, const Gate& gate, const std::string& candidate) {
  const ArmObservations& baseline = all.observations.arms.front();
  if (baseline.trials.empty()) return "no block was finished";
  if (!any_alive(baseline)) return "the baseline failed in every block";
  const std::string what = fmt::format("gave {} for {}", gate.metric, gate.role);
  if (has_values(baseline, gate) && candidate != baseline.arm)
    return fmt::format("no trial of {} {} ({} did)", candidate, what, baseline.arm);
  return "no trial " + what;
}

Note note_left_out(const Gate& gate) {
  return {"default_gate_not_measured",
          fmt::format("{}.{} is a default gate but was not measured, so it is left out", gate.role,
                      gate.metric),
          "see memduel list meters for what gives it, or name gates with --gate"};
}

void add_note_once(std::vector<Note>& notes, Note note) {
  const bool known = std::ranges::any_of(notes, [&](const Note& other) {
    return other.code == note.code && other.message == note.message;
  });
  if (!known) notes.push_back(std::move(note));
}

/// A question that is asked twice, by `*` and by the role's name, has one answer.
void add_result(std::vector<GateResult>& results, GateResult result) {
  const bool is_known = std::ranges::any_of(results, [&](const GateResult& other) {
    return other.candidate == result.candidate && other.name() == result.name();
  });
  if (!is_known) results.push_back(std::move(result));
}

/// Of each role that the gate names and that has its metric.
std::vector<GateResult> results_of(const RunGates& all, const Gate& gate,
                                   const ArmObservations& variant) {
  const bool may_be_left_out = gate.is_default && any_alive(all.observations.arms.front());
  const std::vector<std::string> named = {gate.role};
  std::vector<GateResult> results;
  for (const std::string& role : gate.role == "*" ? all.roles : named) {
    const auto subject = subject_for(all, variant, role, gate.metric);
    if (!subject) {
      Gate of_role = gate;
      of_role.role = role;
      if (gate.role == "*" && !may_be_left_out &&
          has_values(all.observations.arms.front(), of_role))
        results.push_back(
            unmeasured_gate(of_role, variant.arm, why_not_measured(all, of_role, variant.arm)));
      continue;
    }
    GateResult result = evaluate_gate(gate, *subject, all.rules);
    if (!may_be_left_out || !result.not_measured) results.push_back(std::move(result));
  }
  return results;
}

void judge_gate(const RunGates& all, const Gate& gate, const ArmObservations& variant,
                JudgedGates& judged) {
  const bool is_advisory = gate.is_default && !all.default_gates_decide;
  if (!gate.unjudged.empty())
    return add_result(judged.results, unmeasured_gate(gate, variant.arm, gate.unjudged));
  std::vector<GateResult> results = results_of(all, gate, variant);
  const bool is_answered =
      std::ranges::any_of(results, [](const GateResult& one) { return !one.not_measured; });
  for (GateResult& result : results) {
    // Of `*`, a role that cannot be compared is no reason to fail where others were.
    const bool is_beside_the_question = gate.role == "*" && is_answered && result.not_measured;
    if (is_advisory || is_beside_the_question) {
      result.advisory = true;
      result.exit_code = 0;
    }
    add_result(judged.results, std::move(result));
  }
  if (!results.empty()) return;
  if (gate.is_default && any_alive(all.observations.arms.front()))
    return add_note_once(judged.limitations, note_left_out(gate));
  Gate unmeasured = gate;
  unmeasured.advisory = gate.advisory || is_advisory;
  add_result(judged.results,
             unmeasured_gate(unmeasured, variant.arm, why_not_measured(all, gate, variant.arm)));
}

/// Default gates that somebody asked for, none of which could be judged.
void judge_missing_defaults(const RunGates& all, const std::string& variant, JudgedGates& judged) {
  const auto is_one = [&](const GateResult& result) {
    return result.candidate == variant && std::ranges::any_of(all.gates, [&](const Gate& gate) {
             return gate.is_default && gate.text == result.gate;
           });
  };
  if (std::ranges::any_of(judged.results, is_one)) return;
  bool has_default = false;
  for (const Gate& gate : all.gates) {
    if (!gate.is_default) continue;
    has_default = true;
    add_result(judged.results,
               unmeasured_gate(gate, variant, why_not_measured(all, gate, variant)));
  }
  if (has_default) return;
  Gate none;
  none.text = kDefaultGates;
  none.role = "*";
  add_result(judged.results,
             unmeasured_gate(none, variant, "this kind of run has no default gates"));
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

JudgedGates judge_gates(const RunGates& all) {
  JudgedGates judged;
  const bool is_alone = all.view.arms.size() == 1;
  for (const std::string& variant : judged_variants(all.view)) {
    const ArmObservations* seen = find_arm(all.observations, variant);
    if (seen == nullptr) continue;
    for (const Gate& gate : all.gates)
      if (!(is_alone && gate.is_default)) judge_gate(all, gate, *seen, judged);
    if (all.default_gates_are_named) judge_missing_defaults(all, variant, judged);
  }
  return judged;
}

void refuse_unjudgeable(const std::vector<Gate>& gates, bool is_alone, bool is_interleaved) {
  for (const Gate& gate : gates) {
    if (gate.is_default || !has_relative_bound(gate)) continue;
    const std::string where = fmt::format("gate '{}'", gate.text);
    if (is_alone)
      throw Error(
          ExitCode::usage,
          "the run has one variant, and a bound with a plus sign compares it with a baseline",
          where, "give an absolute bound, for example all.peak_rss_bytes<=900MiB");
    if (!is_interleaved && metric_info(gate.metric).unit == Unit::seconds)
      throw Error(ExitCode::usage,
                  "times of two runs that were not interleaved get no verdict: a drift of the "
                  "machine looks the same",
                  where, "compare the two programs with --a and --b, or give an absolute bound");
  }
}

namespace {

bool decides(const GateResult& gate) {
  return !gate.advisory;
}

std::string first_failure(const Results& results, const std::string& arm) {
  const auto first = std::ranges::find_if(results.trials, [&](const TrialData& trial) {
    return trial.arm == arm && !trial.failure.empty();
  });
  if (first == results.trials.end()) return {};
  return "; the first: " + first->failure.substr(0, first->failure.find('\n'));
}

/// Why the variants that the answer needs gave nothing to compare; empty where they did.
std::string why_nothing(const Results& results, const std::vector<std::string>& judged) {
  if (std::ranges::all_of(results.arms, [](const ArmSummary& arm) {
        return arm.trials_ok + arm.trials_failed == 0;
      }))
    return "no trial was measured";
  if (results.arms.size() == 1) return {};
  for (const ArmSummary& arm : results.arms) {
    const bool is_needed =
        arm.name == results.baseline || std::ranges::find(judged, arm.name) != judged.end();
    if (!is_needed || arm.trials_ok > 0) continue;
    return arm.trials_failed == 0 ? fmt::format("no trial of {} was measured", arm.name)
                                  : fmt::format("every trial of {} failed{}", arm.name,
                                                first_failure(results, arm.name));
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

bool gate_failed(const Results& results) {
  return std::ranges::any_of(results.gates, &GateResult::fails);
}

std::vector<std::string> arms_to_explain(const Results& results) {
  std::vector<std::string> arms;
  const auto add = [&](const std::string& candidate) {
    if (arms.empty()) arms.push_back(results.baseline);
    if (std::ranges::find(arms, candidate) == arms.end()) arms.push_back(candidate);
  };
  for (const GateResult& gate : results.gates)
    if (gate.fails()) add(gate.candidate);
  for (const Comparison& row : results.comparisons)
    if (row.is_asked() && row.verdict == Verdict::improved &&
        metric_info(row.metric).unit != Unit::seconds)
      add(row.candidate);
  return arms;
}

RunData only_blocks(RunData run, int first, int last) {
  std::erase_if(run.trials, [&](const TrialData& trial) {
    return trial.kind == TrialKind::measure && (trial.block < first || trial.block > last);
  });
  return run;
}

}  // namespace memduel
