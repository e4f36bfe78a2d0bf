#include "analysis/verdicts/gate_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/statistics/tail.h"
#include "analysis/verdicts/verdict.h"
#include "base/text.h"

namespace memduel {
namespace {

struct Answer {
  GateOutcome outcome = GateOutcome::undecided;
  std::string reason;
  bool shown = false;
};

Interval towards_worse(const MeasuredRow& row, const Interval& interval) {
  if (row.metric.lower_is_better) return interval;
  return {-interval.high, -interval.low};
}

int least_blocks(const MeasuredRow& row) {
  return row.metric.exact ? exact_trials(row.family) : kMinimumBlocks;
}

/// Of the change on the row's scale.
Interval interval_of(const MeasuredRow& row, double alpha) {
  return row.growth ? row.growth->difference.interval(alpha) : row.test->interval(alpha);
}

std::string compact(std::string text) {
  std::erase(text, ' ');
  return text.substr(0, text.find('/'));
}

Answer too_few(int n, int needed) {
  return {GateOutcome::undecided, too_few_blocks(n, needed)};
}

/// `limit` is the allowed worsening on the row's scale.
Answer answer_relative(const MeasuredRow& row, double limit, double alpha) {
  const double worse = row.metric.lower_is_better ? row.effect : -row.effect;
  const std::string bound = describe_size(row, limit);
  const std::string effect = describe_effect(row, row.effect);
  if (row.exact) {
    return {worse <= limit ? GateOutcome::passed : GateOutcome::failed,
            fmt::format("exact: {}, allowed is a worsening of {}", effect, bound), true};
  }
  if (!row.test && !row.growth) return too_few(row.comparison.n_candidate, least_blocks(row));
  const Interval sided = towards_worse(row, interval_of(row, 2 * alpha));
  if (sided.high <= limit) {
    return {GateOutcome::passed,
            fmt::format("{}: a worsening of more than {} is ruled out at the {:.4g} % level",
                        effect, bound, 100 * alpha)};
  }
  const bool beyond = worse > 0 && worse >= limit;
  const bool real = row.comparison.p_adjusted && *row.comparison.p_adjusted <= alpha &&
                    row.decision.verdict == Verdict::regressed;
  if (beyond && real) {
    const bool shown = sided.low > limit;
    return {GateOutcome::failed,
            fmt::format("{} is {} the bound of {} (corrected p {:.4f})", effect,
                        shown ? "shown to be beyond" : "real, and estimated beyond", bound,
                        *row.comparison.p_adjusted),
            shown};
  }
  return {
      GateOutcome::undecided,
      fmt::format("{}: {}", effect,
                  beyond ? fmt::format("beyond the bound of {}, but not shown to be real", bound)
                         : fmt::format("more than {} is not ruled out", bound))};
}

bool grows(const Growth* growth) {
  return growth != nullptr && growth->verdict == GrowthVerdict::growing;
}

Answer answer_growth_relative(const MeasuredRow& row, const Growth* growth, double limit,
                              double alpha) {
  if (growth != nullptr && is_bounded(growth->verdict))
    return {GateOutcome::passed, "the candidate " + growth->reason};
  Answer answer = answer_relative(row, limit, alpha);
  if (answer.outcome == GateOutcome::undecided && growth != nullptr && !grows(growth))
    answer.reason = "the candidate: " + growth->reason;
  return answer;
}

Answer answer_growth_ceiling(const MeasuredRow& row, const Growth* growth, double ceiling) {
  const std::string bound = format_metric(row.metric.name, ceiling);
  if (growth == nullptr || !growth->slope) return {GateOutcome::undecided, "no slope was measured"};
  if (is_bounded(growth->verdict)) return {GateOutcome::passed, "the candidate " + growth->reason};
  const std::string slope = format_metric(row.metric.name, growth->slope);
  if (growth->ci_high && *growth->ci_high <= ceiling) {
    return {GateOutcome::passed,
            fmt::format("{}, at most {} with 95 % confidence; the ceiling is {}", slope,
                        format_metric(row.metric.name, growth->ci_high), bound)};
  }
  if (grows(growth) && *growth->slope > ceiling) {
    const bool shown = growth->ci_low && *growth->ci_low > ceiling;
    return {GateOutcome::failed,
            fmt::format("{}, {} {} with 95 % confidence; the ceiling is {}", slope,
                        shown ? "at least" : "though perhaps",
                        format_metric(row.metric.name, growth->ci_low), bound),
            shown};
  }
  return {GateOutcome::undecided,
          fmt::format("{} against a ceiling of {}: {}", slope, bound, growth->reason)};
}

Answer answer_ceiling(const MeasuredRow& row, double ceiling) {
  const std::vector<double>& values = row.values.candidate;
  const auto n = static_cast<int>(values.size());
  const auto over =
      static_cast<int>(std::ranges::count_if(values, [&](double x) { return x > ceiling; }));
  const std::string bound = format_metric(row.metric.name, ceiling);
  if (over > 0) {
    return {GateOutcome::failed, fmt::format("{} of {} trials were above {}", over, n, bound),
            true};
  }
  if (n < least_blocks(row)) return too_few(n, least_blocks(row));
  return {
      GateOutcome::passed,
      fmt::format("none of {} trials was above {} (largest {}); with 95 % confidence fewer than "
                  "{:.0f} % of trials are",
                  n, bound, format_metric(row.metric.name, row.comparison.candidate_max),
                  100 * exceedance_bound(0, n))};
}

Answer answer_bound(const Bound& bound, const MeasuredRow& row, const Growth* growth,
                    double alpha) {
  const bool grows = is_growth_metric(row.metric.name);
  switch (bound.kind) {
    case Bound::Kind::share:  // the grammar refuses it for growth
      return answer_relative(row, share_on_scale(row, bound.value), alpha);
    case Bound::Kind::amount: {
      const double limit = amount_on_scale(row, bound.value);
      return grows ? answer_growth_relative(row, growth, limit, alpha)
                   : answer_relative(row, limit, alpha);
    }
    case Bound::Kind::ceiling:
      break;
  }
  return grows ? answer_growth_ceiling(row, growth, bound.value) : answer_ceiling(row, bound.value);
}

/// The most favourable answer: one bound that holds is enough.
Answer best(const std::vector<Answer>& answers) {
  const auto rank = [](const Answer& answer) {
    return answer.outcome == GateOutcome::passed      ? 0
           : answer.outcome == GateOutcome::undecided ? 1
                                                      : 2;
  };
  return *std::ranges::min_element(
      answers, [&](const Answer& a, const Answer& b) { return rank(a) < rank(b); });
}

std::vector<Answer> answers_of(const Gate& gate, const MeasuredRow& row, const Growth* growth,
                               double alpha) {
  if (row.values.candidate_failed > 0) return {{GateOutcome::failed, row.decision.reason, true}};
  if (row.values.candidate.empty()) {
    return {{GateOutcome::undecided, "not measured: no block in which the baseline lived"}};
  }
  if (gate.bounds.empty()) {
    return {is_growth_metric(row.metric.name)
                ? answer_growth_relative(row, growth, row.margin, alpha)
                : answer_relative(row, row.margin, alpha)};
  }
  std::vector<Answer> answers;
  for (const Bound& bound : gate.bounds) answers.push_back(answer_bound(bound, row, growth, alpha));
  return answers;
}

}  // namespace

GateResult evaluate_gate(const Gate& gate, const MeasuredRow& row, const Growth* growth,
                         double alpha, bool strict) {
  Answer answer = best(answers_of(gate, row, growth, alpha));
  if (strict && answer.outcome == GateOutcome::failed && !answer.shown) {
    answer.outcome = GateOutcome::undecided;
    answer.reason += "; strict gates ask for more";
  }
  GateResult result;
  // The bound that was used: a default gate's is the margin of this row.
  result.gate = gate.bounds.empty() ? fmt::format("{}.{}<=+{}", gate.role, gate.metric,
                                                  compact(describe_size(row, row.margin)))
                                    : gate.text;
  result.role = gate.role;
  result.metric = gate.metric;
  if (answer.outcome == GateOutcome::failed)
    result.failure = answer.shown ? GateFailure::shown : GateFailure::estimated;
  result.candidate = row.comparison.candidate;
  result.advisory = gate.advisory;
  result.candidate_failed = row.values.candidate_failed > 0;
  result.not_measured = row.values.candidate.empty() && row.values.candidate_failed == 0;
  result.outcome = answer.outcome;
  result.reason = std::move(answer.reason);
  return result;
}

}  // namespace memduel
