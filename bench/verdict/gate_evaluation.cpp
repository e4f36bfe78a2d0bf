// What each bound of a gate says of a row or a variant, and the gates of a whole run.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis_steps.h"
#include "model/metric_names.h"
#include "stats/estimates.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

constexpr const char* kNotMeasured = "not measured: ";
constexpr double kRoundingOfLogarithms = 1e-12;  ///< 80 in place of 100 is -20%

/// What one bound says, with the numbers that it rests on.
struct Answer {
  GateOutcome outcome = GateOutcome::inconclusive;
  std::string reason;
  bool shown = false;         ///< of a failure: the whole interval is beyond the bound
  bool beyond = false;        ///< the estimate is beyond the bound, whatever the outcome
  bool not_measured = false;  ///< the values that the bound needs do not exist
  GateEvidence evidence = {};
};

/// Of a change on the row's scale, so that more is worse.
double worse(const MeasuredRow& row, double change) {
  return row.question.metric.better != Direction::higher ? change : -change;
}

/// The size of a bound in the unit in which it was written; a default gate's is the margin of the
/// row.
std::string bound_text(const MeasuredRow& row, const Bound* bound) {
  if (bound == nullptr) return row.scale.describe_size(row.margin);
  const double size = std::abs(bound->value);
  return bound->of == GateQuantity::ratio ? format_share(size)
                                          : format_metric(row.scale.metric, size);
}

bool asks_for_improvement(const Bound* bound) {
  return bound != nullptr && bound->asks_for_improvement();
}

bool is_less_worse(const MeasuredRow& row) {
  return row.question.metric.better == Direction::higher;
}

/// The most that the change may be, or the least where less is worse, with its sign.
std::string limit_text(const MeasuredRow& row, const Bound* bound) {
  return (is_less_worse(row) != asks_for_improvement(bound) ? "-" : "+") + bound_text(row, bound);
}

/// So that more is worse.
double limit_on_scale(const MeasuredRow& row, const Bound* bound) {
  if (bound == nullptr) return row.margin;
  const double change = worse(row, bound->value);
  return worse(
      row, bound->of == GateQuantity::ratio ? row.scale.share(change) : row.scale.amount(change));
}

/// How a change that is not beyond the limit lies to it.
const char* within_word(const Bound* bound) {
  return asks_for_improvement(bound) ? "meets" : "is within";
}

/// How a change beyond the limit lies to it.
const char* beyond_word(const MeasuredRow& row, const Bound* bound) {
  if (asks_for_improvement(bound)) return "misses";
  return is_less_worse(row) ? "is below" : "exceeds";
}

/// Why an estimate on one side of the limit decides nothing: the end of the interval that lies on
/// the other side.
std::string open_end(const MeasuredRow& row, const Interval& interval, double alpha, bool beyond) {
  const double end = is_less_worse(row) != beyond ? interval.low : interval.high;
  const std::string ci = fmt::format("the {:.4g}% CI", 100 * (1 - 2 * alpha));
  if (std::isinf(end)) return ci + " has no " + (end < 0 ? "lower" : "upper") + " end";
  return ci + " reaches " + row.scale.describe_effect(end);
}

/// " (at most +3.0% with 95% confidence)": the end of the interval that decided, so that more is
/// worse.
std::string one_sided(const MeasuredRow& row, double end, bool is_most, double alpha) {
  return fmt::format(" ({} {} with {:.4g}% confidence)", is_most ? "at most" : "at least",
                     row.scale.describe_effect(worse(row, end)), 100 * (1 - alpha));
}

Answer answer_relative(const DecidedRow& decided, const Bound* bound, double alpha) {
  const MeasuredRow& row = decided.measured;
  const double limit = limit_on_scale(row, bound);
  const std::string limit_is = limit_text(row, bound);
  const std::string effect = row.scale.describe_effect(row.effect);
  Answer answer;
  GateEvidence& evidence = answer.evidence;
  evidence.quantity =
      row.scale.kind == Scale::logarithm ? GateQuantity::ratio : GateQuantity::difference;
  evidence.limit = row.scale.shown(worse(row, limit));
  evidence.estimate = row.scale.shown(row.effect);
  evidence.n_baseline = row.baselines();
  evidence.n_candidate = row.candidates();
  const bool improves = asks_for_improvement(bound);
  answer.beyond =
      worse(row, row.effect) > (improves ? limit : std::max(0.0, limit)) + kRoundingOfLogarithms;
  if (improves && limit >= 0) {
    answer.reason = "the baseline has 0, which cannot become less";
    return answer;
  }
  if (row.exact) {
    evidence.method = kIdentical;
    answer.outcome = answer.beyond ? GateOutcome::failed : GateOutcome::passed;
    answer.shown = true;
    answer.reason =
        fmt::format("{} {} the limit of {} (identical in all trials)", effect,
                    answer.beyond ? beyond_word(row, bound) : within_word(bound), limit_is);
    return answer;
  }
  if (!row.test && !row.growth) {
    answer.reason = too_few_blocks(row.candidates(), trials_needed(row));
    return answer;
  }
  const Interval interval = row.interval(2 * alpha);
  const auto [least, most] = std::minmax({worse(row, interval.low), worse(row, interval.high)});
  const std::optional<double>& p = decided.comparison.p_adjusted;
  evidence.method = decided.comparison.test;
  evidence.ci_low = row.scale.shown(interval.low);
  evidence.ci_high = row.scale.shown(interval.high);
  evidence.confidence = 1 - 2 * alpha;
  evidence.p_adjusted = p;
  if (most <= limit) {
    answer.outcome = GateOutcome::passed;
    answer.reason = fmt::format("{} {} the limit of {}", effect, within_word(bound), limit_is) +
                    one_sided(row, most, !is_less_worse(row), alpha);
    return answer;
  }
  if (improves) {
    answer.shown = least > limit;
    answer.outcome = answer.shown ? GateOutcome::failed : GateOutcome::inconclusive;
    answer.reason =
        fmt::format("{} {} the limit of {}", effect,
                    answer.beyond ? beyond_word(row, bound) : within_word(bound), limit_is) +
        (answer.shown ? one_sided(row, least, is_less_worse(row), alpha)
                      : ", but " + open_end(row, interval, alpha, answer.beyond));
    return answer;
  }
  const bool real = p && *p <= alpha && decided.decision.verdict == Verdict::regressed;
  if (answer.beyond && real) {
    answer.shown = least > limit;
    answer.outcome = GateOutcome::failed;
    answer.reason = fmt::format(
        "{} {} the limit of {} (adjusted p = {:.4f}{})", effect, beyond_word(row, bound), limit_is,
        *p, answer.shown ? "" : ", but the CI includes values within the limit");
    return answer;
  }
  const bool significant = p && *p <= alpha;
  const std::string doubt =
      !answer.beyond ? "but " + open_end(row, interval, alpha, false)
      : significant  ? fmt::format("but the comparison is {}", to_name(decided.decision.verdict))
                     : "but within the noise";
  const char* where = !answer.beyond ? "within" : is_less_worse(row) ? "below" : "over";
  answer.reason = fmt::format("{} is {} the limit of {}, {}", effect, where, limit_is, doubt);
  return answer;
}

bool grows(const Growth* growth) {
  return growth != nullptr && growth->verdict == GrowthVerdict::growing;
}

/// Whether no value of the interval keeps a growth's bound.
bool is_shown_beyond(const Answer& answer) {
  return answer.evidence.ci_low && answer.evidence.limit &&
         *answer.evidence.ci_low > *answer.evidence.limit;
}

Answer answer_growth_relative(const DecidedRow& row, const Growth* growth, const Bound* bound,
                              double alpha) {
  Answer answer = answer_relative(row, bound, alpha);
  if (growth == nullptr || asks_for_improvement(bound)) return answer;
  if (is_bounded(growth->verdict) && (growth->of_files || !is_shown_beyond(answer))) {
    answer.outcome = GateOutcome::passed;
    answer.beyond = false;
    answer.reason = "the candidate " + growth->reason;
  } else if (answer.outcome == GateOutcome::inconclusive && !grows(growth)) {
    answer.reason = "the candidate: " + growth->reason;
  }
  return answer;
}

Answer answer_growth_ceiling(const std::string& metric, const Growth* growth, double ceiling,
                             double alpha) {
  Answer answer;
  answer.evidence.quantity = GateQuantity::value;
  answer.evidence.limit = ceiling;
  if (growth == nullptr || !growth->slope) {
    answer.reason = "no slope was measured";
    answer.not_measured = true;
    return answer;
  }
  answer.evidence.method = growth->method;
  answer.evidence.n_candidate = static_cast<int>(growth->trial_slopes.size());
  answer.evidence.estimate = growth->slope;
  answer.evidence.ci_low = growth->ci_low;
  answer.evidence.ci_high = growth->ci_high;
  answer.evidence.confidence = 1 - alpha;
  if (growth->of_files) {
    answer.outcome = GateOutcome::passed;
    answer.reason = "the candidate " + growth->reason;
    return answer;
  }
  answer.beyond = *growth->slope > ceiling;
  const std::string bound = format_metric(metric, ceiling);
  const std::string slope = format_metric(metric, growth->slope);
  if (growth->ci_high && *growth->ci_high <= ceiling) {
    answer.outcome = GateOutcome::passed;
    answer.reason =
        fmt::format("{} is within the limit of {} (at most {} with {:.4g}% confidence)", slope,
                    bound, format_metric(metric, growth->ci_high), 100 * (1 - alpha));
  } else if (grows(growth) && growth->ci_low && *growth->ci_low > ceiling) {
    answer.outcome = GateOutcome::failed;
    answer.shown = true;
    answer.reason =
        fmt::format("{} exceeds the limit of {} (at least {} with {:.4g}% confidence)", slope,
                    bound, format_metric(metric, growth->ci_low), 100 * (1 - alpha));
  } else {
    answer.reason = fmt::format("{} vs. the limit of {}: {}", slope, bound, growth->reason);
    if (is_bounded(growth->verdict) && growth->ci_low && growth->ci_high)
      answer.reason = fmt::format("{} ({:.4g}% CI {} to {}) vs. the limit of {}: {}", slope,
                                  100 * (1 - alpha), format_metric(metric, growth->ci_low),
                                  format_metric(metric, growth->ci_high), bound, growth->reason);
  }
  return answer;
}

Answer answer_ceiling(const GateSubject& subject, const MetricInfo& metric, double ceiling) {
  const std::vector<double>& values = subject.values;
  const auto n = static_cast<int>(values.size());
  Answer answer;
  answer.evidence.quantity = GateQuantity::value;
  answer.evidence.method = kLargestTrial;
  answer.evidence.limit = ceiling;
  answer.evidence.n_candidate = n;
  if (values.empty()) {
    answer.not_measured = true;
    answer.reason = fmt::format("no trial of {} recorded {} for {}", subject.candidate, metric.name,
                                subject.role);
    return answer;
  }
  const double largest = *std::ranges::max_element(values);
  answer.evidence.estimate = finite(largest);
  answer.beyond = largest > ceiling;
  const auto over =
      static_cast<int>(std::ranges::count_if(values, [&](double x) { return x > ceiling; }));
  const std::string bound = format_metric(metric.name, ceiling);
  if (over > 0) {
    answer.outcome = GateOutcome::failed;
    answer.shown = true;
    answer.reason = fmt::format(
        "{} of {} {} the limit of {} (largest {})", over, format_count(values.size(), "trial"),
        over == 1 ? "exceeds" : "exceed", bound, format_metric(metric.name, largest));
    return answer;
  }
  const int least =
      metric.exact
          ? exact_trials(subject.row == nullptr ? 1 : subject.row->measured.question.family)
          : kMinimumBlocks;
  if (subject.is_whole_run) {
    answer.outcome = GateOutcome::passed;
    answer.reason = fmt::format("at most {} in the watched run, within the limit of {}",
                                format_metric(metric.name, largest), bound);
  } else if (n < least) {
    answer.reason = too_few_blocks(n, least);
  } else {
    answer.outcome = GateOutcome::passed;
    answer.reason = fmt::format(
        "none of {} trials exceeds the limit of {} (largest {}); with 95% confidence fewer than "
        "{:.0f}% of trials do",
        n, bound, format_metric(metric.name, largest), 100 * exceedance_bound(0, n));
  }
  return answer;
}

/// A relative bound of a metric that was not compared.
Answer without_row(const GateSubject& subject) {
  Answer answer;
  answer.not_measured = true;
  answer.reason = subject.why_no_row;
  return answer;
}

/// `bound` is null for a default gate.
Answer answer_bound(const Bound* bound, const MetricInfo& metric, const GateSubject& subject,
                    double alpha) {
  const bool of_growth = is_growth_metric(metric.name);
  if (bound != nullptr && bound->is_ceiling())
    return of_growth ? answer_growth_ceiling(metric.name, subject.growth, bound->value, alpha)
                     : answer_ceiling(subject, metric, bound->value);
  if (subject.row == nullptr) return without_row(subject);
  if (subject.row->measured.values.candidate.empty()) {
    Answer answer;
    answer.not_measured = true;
    answer.reason = "the baseline failed in every trial";
    return answer;
  }
  return of_growth ? answer_growth_relative(*subject.row, subject.growth, bound, alpha)
                   : answer_relative(*subject.row, bound, alpha);
}

/// The most favourable answer: one bound that holds is enough. A bound that was not measured holds
/// nothing, so that the others decide.
Answer best(const std::vector<Answer>& answers) {
  const auto rank = [](const Answer& answer) {
    if (answer.outcome == GateOutcome::passed) return 0;
    if (answer.outcome == GateOutcome::failed) return 3;
    return answer.not_measured ? 4 : answer.beyond ? 2 : 1;
  };
  return *std::ranges::min_element(
      answers, [&](const Answer& a, const Answer& b) { return rank(a) < rank(b); });
}

Answer answer_of(const Gate& gate, const GateSubject& subject, double alpha) {
  const MetricInfo metric =
      subject.row == nullptr ? metric_info(gate.metric) : subject.row->measured.question.metric;
  if (subject.failed > 0) {
    Answer answer;
    answer.outcome = GateOutcome::failed;
    answer.shown = true;
    answer.reason = subject.failure;
    answer.evidence.method = kDied;
    answer.evidence.n_candidate = subject.failed + static_cast<int>(subject.values.size());
    return answer;
  }
  std::vector<Answer> answers;
  for (const Bound& bound : gate.bounds)
    answers.push_back(answer_bound(&bound, metric, subject, alpha));
  if (answers.empty()) answers.push_back(answer_bound(nullptr, metric, subject, alpha));
  return best(answers);
}

/// The exit code of this gate alone.
int exit_code_of(const GateResult& gate, OnInconclusive on_inconclusive) {
  const auto code = [](ExitCode exit) { return static_cast<int>(exit); };
  if (gate.advisory || gate.outcome == GateOutcome::passed) return code(ExitCode::ok);
  if (gate.outcome == GateOutcome::failed) return code(ExitCode::gate_failed);
  if (gate.not_measured) return code(ExitCode::cannot_measure);
  const bool counts = on_inconclusive == OnInconclusive::fail ||
                      (on_inconclusive == OnInconclusive::beyond && gate.beyond_bound);
  return code(counts ? ExitCode::inconclusive : ExitCode::ok);
}

GateResult result_for(const Gate& gate) {
  GateResult result;
  result.gate = gate.text;
  result.role = gate.role;
  result.metric = gate.metric;
  result.advisory = gate.advisory;
  return result;
}

}  // namespace

GateSubject subject_of(const DecidedRow& row, const Growth* growth) {
  GateSubject subject;
  subject.candidate = row.comparison.candidate;
  subject.role = row.comparison.role;
  std::ranges::copy_if(row.measured.values.candidate, std::back_inserter(subject.values),
                       [](double value) { return std::isfinite(value); });
  subject.failed = row.measured.values.candidate_failed;
  if (subject.failed > 0) subject.failure = row.decision.reason;
  subject.row = &row;
  subject.growth = growth;
  return subject;
}

GateResult evaluate_gate(const Gate& gate, const GateSubject& subject, const GateRules& rules) {
  Answer answer = answer_of(gate, subject, rules.alpha);
  if (rules.strict && answer.outcome == GateOutcome::failed && !answer.shown) {
    answer.outcome = GateOutcome::inconclusive;
    answer.reason += "; strict gates require the whole CI to be over the limit";
  }
  GateResult result = result_for(gate);
  result.role = subject.role;
  result.candidate = subject.candidate;
  if (subject.row != nullptr) result.baseline = subject.row->comparison.baseline;
  result.candidate_failed = subject.failed > 0;
  result.not_measured = answer.not_measured;
  if (answer.not_measured) answer.reason = kNotMeasured + answer.reason;
  if (!result.candidate_failed && !result.not_measured && rules.doubts.any()) {
    answer.outcome = GateOutcome::inconclusive;
    answer.beyond = answer.beyond && rules.doubts.pending.empty();
    answer.reason = rules.doubts.explain(answer.reason);
    if (!rules.doubts.pending.empty()) answer.evidence = {};
  }
  result.outcome = answer.outcome;
  result.beyond_bound = answer.outcome == GateOutcome::inconclusive && answer.beyond;
  if (answer.outcome == GateOutcome::failed)
    result.failure = answer.shown ? GateFailure::shown : GateFailure::estimated;
  result.evidence = std::move(answer.evidence);
  result.reason = std::move(answer.reason);
  result.exit_code = exit_code_of(result, rules.on_inconclusive);
  return result;
}

namespace {

/// What the gates of a run are judged by.
struct GateInputs {
  const Inquiry& inquiry;
  const std::vector<DecidedRow>& rows;
  const std::vector<GrowthRow>& growth;
  GateRules rules;

  [[nodiscard]] const ArmObservations& baseline() const {
    return inquiry.observations.arms.front();
  }
};

/// A gate that nothing measured, with the reason after "not measured: ".
GateResult unmeasured_gate(const Gate& gate, const std::string& candidate, const std::string& why) {
  GateResult result = result_for(gate);
  result.candidate = candidate;
  result.not_measured = true;
  result.reason = kNotMeasured + why;
  result.exit_code = exit_code_of(result, OnInconclusive::beyond);
  return result;
}

const DecidedRow* compared_row(const GateInputs& all, const std::string& candidate,
                               const std::string& role, const std::string& metric) {
  const auto found = std::ranges::find_if(all.rows, [&](const DecidedRow& row) {
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
    subject.failure = fmt::format("{} of {} failed; the first failure: {}", subject.failed,
                                  format_count(variant.trials.size(), "trial"),
                                  subject.failure.substr(0, subject.failure.find('\n')));
}

/// Nothing where neither the variant nor its comparison has the metric.
std::optional<GateSubject> subject_for(const GateInputs& all, const ArmObservations& variant,
                                       const std::string& role, const std::string& metric) {
  const DecidedRow* row = compared_row(all, variant.arm, role, metric);
  const GrowthRow* grown = find_growth(all.growth, variant.arm, role, metric);
  const Growth* growth = grown == nullptr ? nullptr : &grown->row;
  GateSubject subject = row != nullptr ? subject_of(*row, growth) : GateSubject();
  // What a ceiling bounds needs no trial of the baseline beside it.
  subject.values = values_of(variant, role, metric);
  if (row != nullptr) return subject;
  if (subject.values.empty() && growth == nullptr) return std::nullopt;
  subject.candidate = variant.arm;
  subject.role = role;
  subject.growth = growth;
  subject.why_no_row =
      fmt::format("no trial of {} recorded {} for {}", all.inquiry.view.baseline, metric, role);
  subject.is_whole_run =
      all.inquiry.run.environment.is_object() && all.inquiry.run.environment.contains("watched");
  add_failures(subject, variant);
  return subject;
}

bool has_values(const ArmObservations& variant, const Gate& gate) {
  return std::ranges::any_of(variant.trials, [&](const Observation& trial) {
    return value_of(trial, gate.role, gate.metric).has_value();
  });
}

std::string why_not_measured(const GateInputs& all, const Gate& gate,
                             const std::string& candidate) {
  const ArmObservations& baseline = all.baseline();
  if (baseline.trials.empty()) return "no trial was finished";
  if (!any_alive(baseline)) return "the baseline failed in every trial";
  const std::string what = fmt::format("recorded {} for {}", gate.metric, gate.role);
  if (has_values(baseline, gate) && candidate != baseline.arm)
    return fmt::format("no trial of {} {} ({} did)", candidate, what, baseline.arm);
  return "no trial " + what;
}

/// The gate that judges a file of hyperfine instead, of a metric that such a file does not have.
std::string advice_on_hyperfine(const GateInputs& all, const Gate& gate) {
  const auto& environment = all.inquiry.run.environment;
  const bool is_hyperfine = environment.is_object() && environment.contains("hyperfine");
  const std::string_view meter = metric_info(gate.metric).meter;
  if (!is_hyperfine || gate.metric == kPeakLargestProcess ||
      (meter != "procfs" && meter != "cgroup") || metric_info(gate.metric).unit != Unit::bytes)
    return {};
  return fmt::format("; hyperfine records the largest process only: write {}{}",
                     short_name_of_metric(kPeakLargestProcess),
                     gate.text.substr(gate.text.find("<=")));
}

Note note_left_out(const Gate& gate) {
  return {"default_gate_not_measured",
          fmt::format("the default gate on {}.{} was skipped because it was not measured",
                      gate.role, gate.metric),
          "run memduel list meters to see what measures it, or name gates with --gate"};
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
std::vector<GateResult> results_of(const GateInputs& all, const Gate& gate,
                                   const ArmObservations& variant) {
  const bool may_be_left_out = gate.is_default && any_alive(all.baseline());
  const std::vector<std::string> named = {gate.role};
  std::vector<GateResult> results;
  for (const std::string& role : gate.role == "*" ? all.inquiry.roles : named) {
    const auto subject = subject_for(all, variant, role, gate.metric);
    if (!subject) {
      Gate of_role = gate;
      of_role.role = role;
      if (gate.role == "*" && !may_be_left_out && has_values(all.baseline(), of_role))
        results.push_back(
            unmeasured_gate(of_role, variant.arm, why_not_measured(all, of_role, variant.arm)));
      continue;
    }
    GateResult result = evaluate_gate(gate, *subject, all.rules);
    if (!may_be_left_out || !result.not_measured) results.push_back(std::move(result));
  }
  return results;
}

void judge_gate(const GateInputs& all, const Gate& gate, const ArmObservations& variant,
                JudgedGates& judged) {
  const bool is_advisory = gate.is_default && !default_gates_decide(all.inquiry.settings);
  if (!gate.unjudged.empty())
    return add_result(judged.results, unmeasured_gate(gate, variant.arm, gate.unjudged));
  std::vector<GateResult> results = results_of(all, gate, variant);
  const bool is_answered =
      std::ranges::any_of(results, [](const GateResult& one) { return !one.not_measured; });
  for (GateResult& result : results) {
    if (result.not_measured) result.reason += advice_on_hyperfine(all, gate);
    // Of `*`, a role that cannot be compared is no reason to fail where others were.
    const bool is_beside_the_question = gate.role == "*" && is_answered && result.not_measured;
    if (is_advisory || is_beside_the_question) {
      result.advisory = true;
      result.exit_code = 0;
    }
    add_result(judged.results, std::move(result));
  }
  if (!results.empty()) return;
  if (gate.is_default && any_alive(all.baseline()))
    return add_note_once(judged.limitations, note_left_out(gate));
  Gate unmeasured = gate;
  unmeasured.advisory = gate.advisory || is_advisory;
  add_result(judged.results,
             unmeasured_gate(unmeasured, variant.arm,
                             why_not_measured(all, gate, variant.arm) +
                                 (gate.is_default ? "" : advice_on_hyperfine(all, gate))));
}

/// Default gates that somebody asked for, none of which could be judged.
void judge_missing_defaults(const GateInputs& all, const std::string& variant,
                            JudgedGates& judged) {
  const auto is_one = [&](const GateResult& result) {
    return result.candidate == variant &&
           std::ranges::any_of(all.inquiry.gates, [&](const Gate& gate) {
             return gate.is_default && gate.text == result.gate;
           });
  };
  if (std::ranges::any_of(judged.results, is_one)) return;
  bool has_default = false;
  for (const Gate& gate : all.inquiry.gates) {
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

JudgedGates judge_gates(const Inquiry& inquiry, const DecidedRows& decided,
                        const std::vector<GrowthRow>& growth) {
  const AnalysisSettings& settings = inquiry.settings;
  const GateInputs all{
      inquiry,
      decided.rows,
      growth,
      {inquiry.alpha, settings.strict_gates, settings.on_inconclusive, decided.doubts}};
  JudgedGates judged;
  const bool is_alone = inquiry.view.arms.size() == 1;
  for (const std::string& variant : judged_variants(inquiry.view)) {
    const ArmObservations* seen = find_arm(inquiry.observations, variant);
    if (seen == nullptr) continue;
    for (const Gate& gate : inquiry.gates)
      if (!(is_alone && gate.is_default)) judge_gate(all, gate, *seen, judged);
    if (settings.named_default_gates) judge_missing_defaults(all, variant, judged);
  }
  return judged;
}

}  // namespace memduel
