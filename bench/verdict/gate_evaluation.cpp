#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/estimates.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

constexpr const char* kNotMeasured = "not measured: ";

/// What one bound says, with the numbers that it rests on.
struct Answer {
  GateOutcome outcome = GateOutcome::inconclusive;
  std::string reason;
  bool shown = false;         ///< of a failure: the whole interval is beyond the bound
  bool beyond = false;        ///< the estimate is beyond the bound, whatever the outcome
  bool not_measured = false;  ///< the values that the bound needs do not exist
  GateEvidence evidence = {};
};

Interval towards_worse(const MeasuredRow& row, const Interval& interval) {
  if (row.metric.better != Direction::higher) return interval;
  return {-interval.high, -interval.low};
}

/// Of the change on the row's scale.
Interval interval_of(const MeasuredRow& row, double alpha) {
  return row.growth ? row.growth->difference.interval(alpha) : row.test->interval(alpha);
}

/// A bound in the unit in which it was written; a default gate's is the margin of the row.
std::string bound_text(const MeasuredRow& row, const Bound* bound) {
  if (bound == nullptr) return describe_size(row, row.margin);
  return bound->kind == Bound::Kind::share ? format_share(bound->value)
                                           : format_metric(row.metric.name, bound->value);
}

double limit_on_scale(const MeasuredRow& row, const Bound* bound) {
  if (bound == nullptr) return row.margin;
  return bound->kind == Bound::Kind::share ? share_on_scale(row, bound->value)
                                           : amount_on_scale(row, bound->value);
}

/// The change that was estimated, on the scale on which rows are written down.
GateEvidence change_of(const MeasuredRow& row, double limit) {
  GateEvidence evidence;
  evidence.quantity =
      row.scale == Scale::logarithm ? GateQuantity::ratio : GateQuantity::difference;
  const double worse = row.metric.better != Direction::higher ? limit : -limit;
  evidence.limit = shown(row, worse);
  evidence.estimate = shown(row, row.effect);
  evidence.n_baseline = row.comparison.n_baseline;
  evidence.n_candidate = row.comparison.n_candidate;
  return evidence;
}

void take_interval(GateEvidence& evidence, const MeasuredRow& row, const Interval& interval,
                   double alpha) {
  evidence.method = row.comparison.test;
  evidence.ci_low = shown(row, interval.low);
  evidence.ci_high = shown(row, interval.high);
  evidence.confidence = 1 - 2 * alpha;
  evidence.p_adjusted = row.comparison.p_adjusted;
}

Answer answer_relative(const MeasuredRow& row, const Bound* bound, double alpha) {
  const double limit = limit_on_scale(row, bound);
  const double worse = row.metric.better != Direction::higher ? row.effect : -row.effect;
  const std::string bound_is = bound_text(row, bound);
  const std::string effect = describe_effect(row, row.effect);
  Answer answer;
  answer.evidence = change_of(row, limit);
  answer.beyond = worse > 0 && worse > limit;
  if (row.exact) {
    answer.evidence.method = kIdentical;
    answer.outcome = answer.beyond ? GateOutcome::failed : GateOutcome::passed;
    answer.shown = true;
    answer.reason = fmt::format("exact: {}, allowed is a worsening of {}", effect, bound_is);
    return answer;
  }
  if (!row.test && !row.growth) {
    answer.reason = too_few_blocks(row.comparison.n_candidate, trials_needed(row));
    return answer;
  }
  const Interval two_sided = interval_of(row, 2 * alpha);
  take_interval(answer.evidence, row, two_sided, alpha);
  const Interval sided = towards_worse(row, two_sided);
  if (sided.high <= limit) {
    answer.outcome = GateOutcome::passed;
    answer.reason =
        fmt::format("{}: a worsening of more than {} is ruled out at the {:.4g} % level", effect,
                    bound_is, 100 * alpha);
    return answer;
  }
  const bool real = row.comparison.p_adjusted && *row.comparison.p_adjusted <= alpha &&
                    row.decision.verdict == Verdict::regressed;
  if (answer.beyond && real) {
    answer.shown = sided.low > limit;
    answer.outcome = GateOutcome::failed;
    answer.reason = fmt::format("{} is {} the bound of {} (corrected p {:.4f})", effect,
                                answer.shown ? "shown to be beyond" : "real, and estimated beyond",
                                bound_is, *row.comparison.p_adjusted);
    return answer;
  }
  answer.reason = fmt::format(
      "{}: {}", effect,
      answer.beyond ? fmt::format("beyond the bound of {}, but not shown to be real", bound_is)
                    : fmt::format("more than {} is not ruled out", bound_is));
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

Answer answer_growth_relative(const MeasuredRow& row, const Growth* growth, const Bound* bound,
                              double alpha) {
  Answer answer = answer_relative(row, bound, alpha);
  if (growth == nullptr) return answer;
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
    answer.reason = fmt::format("{}, at most {} with {:.4g} % confidence; the ceiling is {}", slope,
                                format_metric(metric, growth->ci_high), 100 * (1 - alpha), bound);
  } else if (grows(growth) && growth->ci_low && *growth->ci_low > ceiling) {
    answer.outcome = GateOutcome::failed;
    answer.shown = true;
    answer.reason =
        fmt::format("{}, at least {} with {:.4g} % confidence; the ceiling is {}", slope,
                    format_metric(metric, growth->ci_low), 100 * (1 - alpha), bound);
  } else {
    answer.reason = fmt::format("{} against a ceiling of {}: {}", slope, bound, growth->reason);
    if (is_bounded(growth->verdict) && growth->ci_low && growth->ci_high)
      answer.reason =
          fmt::format("{} ({} to {} with {:.4g} % confidence) against a ceiling of {}: {}", slope,
                      format_metric(metric, growth->ci_low), format_metric(metric, growth->ci_high),
                      100 * (1 - alpha), bound, growth->reason);
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
    answer.reason =
        fmt::format("no trial of {} gave {} for {}", subject.candidate, metric.name, subject.role);
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
    answer.reason =
        fmt::format("{} of {} {} above {} (largest {})", over, format_count(values.size(), "trial"),
                    over == 1 ? "was" : "were", bound, format_metric(metric.name, largest));
    return answer;
  }
  const int least = metric.exact ? exact_trials(subject.row == nullptr ? 1 : subject.row->family)
                                 : kMinimumBlocks;
  if (subject.is_whole_run) {
    answer.outcome = GateOutcome::passed;
    answer.reason = fmt::format("at most {} in the run that was watched, not above {}",
                                format_metric(metric.name, largest), bound);
  } else if (n < least) {
    answer.reason = too_few_blocks(n, least);
  } else {
    answer.outcome = GateOutcome::passed;
    answer.reason = fmt::format(
        "none of {} trials was above {} (largest {}); with 95 % confidence fewer than {:.0f} % of "
        "trials are",
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
  if (bound != nullptr && bound->kind == Bound::Kind::ceiling)
    return of_growth ? answer_growth_ceiling(metric.name, subject.growth, bound->value, alpha)
                     : answer_ceiling(subject, metric, bound->value);
  if (subject.row == nullptr) return without_row(subject);
  if (subject.row->values.candidate.empty()) {
    Answer answer;
    answer.not_measured = true;
    answer.reason = "no block in which the baseline lived";
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
  const MetricInfo metric = subject.row == nullptr ? metric_info(gate.metric) : subject.row->metric;
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

/// The exit code that this gate alone asks for.
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

GateSubject subject_of(const MeasuredRow& row, const Growth* growth) {
  GateSubject subject;
  subject.candidate = row.comparison.candidate;
  subject.role = row.comparison.role;
  std::ranges::copy_if(row.values.candidate, std::back_inserter(subject.values),
                       [](double value) { return std::isfinite(value); });
  subject.failed = row.values.candidate_failed;
  if (subject.failed > 0) subject.failure = row.decision.reason;
  subject.row = &row;
  subject.growth = growth;
  return subject;
}

GateResult evaluate_gate(const Gate& gate, const GateSubject& subject, const GateRules& rules) {
  Answer answer = answer_of(gate, subject, rules.alpha);
  if (rules.strict && answer.outcome == GateOutcome::failed && !answer.shown) {
    answer.outcome = GateOutcome::inconclusive;
    answer.reason += "; strict gates ask for more";
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

GateResult unmeasured_gate(const Gate& gate, const std::string& candidate, const std::string& why) {
  GateResult result = result_for(gate);
  result.candidate = candidate;
  result.not_measured = true;
  result.reason = kNotMeasured + why;
  result.exit_code = exit_code_of(result, OnInconclusive::beyond);
  return result;
}

}  // namespace memduel
