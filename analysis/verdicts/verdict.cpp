#include "analysis/verdicts/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/verdicts/doubts.h"
#include "base/run_data.h"
#include "base/text.h"

namespace memduel {
namespace {

constexpr double kSpreadLevel = 0.01;
constexpr const char* kNothingDeclared =
    "; nothing declares whether higher or lower values are better";

std::string percent(double share) {
  return fmt::format("{:.4g} %", 100 * share);
}

Verdict direction(const MeasuredRow& row) {
  if (row.metric.better == Direction::undeclared) return Verdict::changed;
  const bool worse = (row.effect > 0) == (row.metric.better == Direction::lower);
  return worse ? Verdict::regressed : Verdict::improved;
}

Decision cannot_tell(std::string reason) {
  return {Verdict::inconclusive, Tier::plain, std::move(reason)};
}

Decision without_test(MeasuredRow& row) {
  Comparison& out = row.comparison;
  const int n = std::min(out.n_baseline, out.n_candidate);
  if (out.n_baseline == 0) return cannot_tell("not measured: the baseline lived in no block");
  const int exact = exact_trials(row.family);
  const bool may_be_exact = row.metric.exact && n < exact;
  out.blocks_needed = may_be_exact ? exact : kMinimumBlocks;
  return cannot_tell(too_few_blocks(n, *out.blocks_needed));
}

Decision exactly(MeasuredRow& row) {
  Comparison& out = row.comparison;
  out.ci_low = shown(row, row.effect);
  out.ci_high = out.ci_low;
  const std::string size = describe_size(row, row.margin);
  if (row.effect == 0)
    return {Verdict::unchanged, Tier::plain, "exactly the same value in every block"};
  // The noise floor of other runs says nothing about values that do not vary.
  const bool inside = std::abs(row.effect) <= row.margin;
  return {inside ? Verdict::unchanged : direction(row), inside ? Tier::plain : Tier::strong,
          fmt::format("exact: {} in every block, {} the margin of {}",
                      describe_effect(row, row.effect), inside ? "inside" : "beyond", size)};
}

/// Whether the ranks say that it moved, and the mean does not follow.
bool mean_is_unsettled(const MeasuredRow& row, double alpha) {
  // Corrected like the ranks' own p.
  return row.mean_p && row.comparison.p_adjusted && *row.comparison.p_value > 0 &&
         *row.mean_p * (*row.comparison.p_adjusted / *row.comparison.p_value) > alpha;
}

std::string why_inconclusive(const MeasuredRow& row, double alpha, int family,
                             const Interval& interval, const Interval& equivalence) {
  const Comparison& out = row.comparison;
  const std::string margin = describe_size(row, row.claim_margin);
  if (*out.p_adjusted <= alpha && std::abs(row.effect) >= row.claim_margin) {
    return fmt::format(
        "{} in the middle, the mean is not settled: {} by the ranks (p {:.4f}), the "
        "means differ by chance as often as {:.3f}",
        row.effect < 0 ? "lower" : "higher", describe_effect(row, row.effect), *out.p_adjusted,
        *row.mean_p);
  }
  if (*out.p_adjusted <= alpha) {
    return fmt::format(
        "a change is real, its size is not settled: the {} interval {} reaches past "
        "the margin of {}, the estimate {} does not",
        percent(1 - 2 * alpha), describe_interval(row, equivalence), margin,
        describe_effect(row, row.effect));
  }
  if (*out.p_value <= alpha) {
    return fmt::format(
        "{} would count alone (p {:.4f}), but not as one of {} rows judged together "
        "(corrected p {:.3f})",
        describe_effect(row, row.effect), *out.p_value, family, *out.p_adjusted);
  }
  return fmt::format("the {} interval {} holds no change as well as more than the margin of {}",
                     percent(1 - alpha), describe_interval(row, interval), margin);
}

/// A difference of spread alone is no verdict, but worth a word.
std::string words_on_spread(const MeasuredRow& row) {
  if (!row.spread_p || *row.spread_p > kSpreadLevel) return {};
  const auto range = [&](const std::vector<double>& values) {
    const auto [low, high] = std::ranges::minmax_element(values);
    return format_interval(format_metric(row.metric.name, *low),
                           format_metric(row.metric.name, *high));
  };
  return fmt::format("; the spread differs: {} against {}", range(row.values.baseline),
                     range(row.values.candidate));
}

/// The interval that decides.
void set_interval(Comparison& out, const MeasuredRow& row, const Interval& interval,
                  double confidence) {
  out.confidence = confidence;
  out.ci_low = shown(row, interval.low);
  out.ci_high = shown(row, interval.high);
}

Decision by_test(MeasuredRow& row, double alpha, int family) {
  Comparison& out = row.comparison;
  const Interval interval = row.test->interval(alpha);
  const Interval equivalence = row.test->interval(2 * alpha);
  const std::string margin = describe_size(row, row.margin);
  set_interval(out, row, interval, 1 - alpha);
  out.p_mean = row.mean_p;
  if (equivalence.low >= -row.margin && equivalence.high <= row.margin) {
    set_interval(out, row, equivalence, 1 - 2 * alpha);
    return {Verdict::unchanged, Tier::plain,
            fmt::format("{}the {} interval {} lies inside the margin of {}{}",
                        *out.p_adjusted <= alpha ? "measurable but negligible: " : "",
                        percent(1 - 2 * alpha), describe_interval(row, equivalence), margin,
                        words_on_spread(row))};
  }
  if (*out.p_adjusted > alpha || std::abs(row.effect) < row.claim_margin ||
      mean_is_unsettled(row, alpha))
    return cannot_tell(why_inconclusive(row, alpha, family, interval, equivalence) +
                       words_on_spread(row));
  // The level at which this row was tested within its family.
  const double own_alpha = *out.p_adjusted > 0 ? alpha * *out.p_value / *out.p_adjusted : alpha;
  const Interval own = row.test->interval(own_alpha);
  const bool clears = own.low >= row.claim_margin || own.high <= -row.claim_margin;
  return {direction(row), clears ? Tier::strong : Tier::plain,
          fmt::format("{}, {} interval {}: {} the margin of {}", describe_effect(row, row.effect),
                      percent(1 - alpha), describe_interval(row, interval),
                      clears ? "all of it beyond" : "no longer zero, but reaches inside",
                      describe_size(row, row.claim_margin))};
}

/// Growth is judged by the two arms' own judgements, and compared by their slopes.
Decision by_growth(MeasuredRow& row, double alpha) {
  Comparison& out = row.comparison;
  const GrowthDifference& growth = *row.growth;
  out.confidence = 1 - alpha;
  if (growth.difference.freedom > 0) {
    const Interval interval = growth.difference.interval(alpha);
    out.ci_low = finite(interval.low);
    out.ci_high = finite(interval.high);
  }
  const std::string change = describe_effect(row, row.effect);
  const bool real =
      out.p_adjusted && *out.p_adjusted <= alpha && std::abs(row.effect) >= row.margin;
  const bool worse = row.effect > 0;
  if (is_bounded(growth.baseline) && is_bounded(growth.candidate))
    return {Verdict::unchanged, Tier::plain, "neither grows: " + growth.reason};
  if (real && (worse ? growth.candidate : growth.baseline) == GrowthVerdict::growing)
    return {direction(row), Tier::plain, fmt::format("{}: {}", change, growth.reason)};
  return cannot_tell(growth.reason);
}

/// A failed candidate is never hidden behind a decision on the trials that lived.
Decision with_failures(MeasuredRow& row, Decision of_living) {
  Comparison& out = row.comparison;
  const RowValues& values = row.values;
  if (values.candidate_failed == 0) return of_living;
  const std::string first = values.failure.substr(0, values.failure.find('\n'));
  const std::string what = fmt::format(
      "the candidate {} in {} of {} in which the baseline lived{}{}",
      values.candidate_killed_for_memory == values.candidate_failed ? kKilledForMemory : "failed",
      values.candidate_failed, format_count(out.n_candidate, "block"),
      first.empty() ? "" : "; the first time ", first);
  if (values.candidate_failed == out.n_candidate) {
    out.blocks_needed.reset();
    return {Verdict::regressed, Tier::plain, what};
  }
  if (of_living.verdict != Verdict::regressed) return cannot_tell(what);
  of_living.reason = of_living.reason.empty() ? what : what + "; " + of_living.reason;
  return of_living;
}

/// More than half of all differences are to a dead candidate: no size can be given, and none is
/// needed.
Decision of_dead(MeasuredRow& row) {
  row.comparison.ratio.reset();
  row.comparison.difference.reset();
  return {Verdict::regressed, Tier::plain, ""};
}

Decision of_living(MeasuredRow& row, double alpha, int family) {
  if (row.growth) return by_growth(row, alpha);
  if (row.exact) return exactly(row);
  if (!row.test) return without_test(row);
  Decision decision = by_test(row, alpha, family);
  if (!may_be_drift(row)) return decision;
  return cannot_tell(
      fmt::format("{}, but not measured in turns: a drift of the machine looks the same",
                  describe_effect(row, row.effect)));
}

}  // namespace

std::string too_few_blocks(int blocks, int needed) {
  return fmt::format("cannot tell: {} of {} blocks", blocks, needed);
}

void decide(MeasuredRow& row, double alpha, int family, const Doubts& doubts) {
  const bool dead = row.values.candidate_failed > 0 && !std::isfinite(row.effect);
  row.decision = with_failures(row, dead ? of_dead(row) : of_living(row, alpha, family));
  if (row.decision.verdict == Verdict::changed) row.decision.reason += kNothingDeclared;
  Comparison& out = row.comparison;
  out.verdict = doubts.any() ? Verdict::inconclusive : row.decision.verdict;
  out.tier = doubts.any() ? Tier::plain : row.decision.tier;
  out.reason = doubts.any() ? doubts.explain(row.decision.reason) : row.decision.reason;
  if (!doubts.pending.empty()) out.blocks_needed.reset();
}

}  // namespace memduel
