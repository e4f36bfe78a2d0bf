#include "analysis/verdicts/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace memduel {
namespace {

constexpr double kSpreadLevel = 0.01;

std::string percent(double share) {
  return fmt::format("{:.4g} %", 100 * share);
}

Verdict direction(const MeasuredRow& row) {
  const bool worse = (row.effect > 0) == row.metric.lower_is_better;
  return worse ? Verdict::regressed : Verdict::improved;
}

void decide_without_test(MeasuredRow& row) {
  Comparison& out = row.comparison;
  const int n = std::min(out.n_baseline, out.n_candidate);
  if (out.n_baseline == 0) {
    out.reason = "not measured: the baseline lived in no block";
    return;
  }
  const int exact = exact_trials(row.family);
  const bool may_be_exact = row.metric.exact && n < exact;
  out.blocks_needed = may_be_exact ? exact : kMinimumBlocks;
  out.reason = fmt::format("cannot tell: {} of {} blocks", n, *out.blocks_needed);
}

void decide_exactly(MeasuredRow& row) {
  Comparison& out = row.comparison;
  out.ci_low = shown(row, row.effect);
  out.ci_high = out.ci_low;
  const std::string size = describe_size(row, row.margin);
  if (row.effect == 0) {
    out.verdict = Verdict::unchanged;
    out.reason = "exactly the same value in every block";
    return;
  }
  // The noise floor of other runs says nothing about values that do not vary.
  const bool inside = std::abs(row.effect) <= row.margin;
  out.verdict = inside ? Verdict::unchanged : direction(row);
  out.tier = inside ? Tier::plain : Tier::strong;
  out.reason = fmt::format("exact: {} in every block, {} the margin of {}",
                           describe_effect(row, row.effect), inside ? "inside" : "beyond", size);
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
void name_spread(MeasuredRow& row) {
  if (!row.spread_p || *row.spread_p > kSpreadLevel) return;
  const auto range = [&](const std::vector<double>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return fmt::format("{} to {}", format_metric(row.metric.name, *low),
                       format_metric(row.metric.name, *high));
  };
  row.comparison.reason += fmt::format("; the spread differs: {} against {}",
                                       range(row.values.baseline), range(row.values.candidate));
}

void decide_by_test(MeasuredRow& row, double alpha, int family) {
  Comparison& out = row.comparison;
  const Interval interval = row.test->interval(alpha);
  const Interval equivalence = row.test->interval(2 * alpha);
  const std::string margin = describe_size(row, row.margin);
  out.confidence = 1 - alpha;
  out.ci_low = shown(row, interval.low);
  out.ci_high = shown(row, interval.high);
  out.p_mean = row.mean_p;
  if (equivalence.low >= -row.margin && equivalence.high <= row.margin) {
    out.verdict = Verdict::unchanged;
    out.reason = fmt::format("{}the {} interval {} lies inside the margin of {}",
                             *out.p_adjusted <= alpha ? "measurable but negligible: " : "",
                             percent(1 - 2 * alpha), describe_interval(row, equivalence), margin);
    name_spread(row);
    return;
  }
  if (*out.p_adjusted > alpha || std::abs(row.effect) < row.claim_margin ||
      mean_is_unsettled(row, alpha)) {
    out.reason = why_inconclusive(row, alpha, family, interval, equivalence);
    name_spread(row);
    return;
  }
  out.verdict = direction(row);
  // The level at which this row was tested within its family.
  const double own_alpha = *out.p_adjusted > 0 ? alpha * *out.p_value / *out.p_adjusted : alpha;
  const Interval own = row.test->interval(own_alpha);
  const bool clears = own.low >= row.claim_margin || own.high <= -row.claim_margin;
  out.tier = clears ? Tier::strong : Tier::plain;
  out.reason =
      fmt::format("{}, {} interval {}: {} the margin of {}", describe_effect(row, row.effect),
                  percent(1 - alpha), describe_interval(row, interval),
                  clears ? "all of it beyond" : "no longer zero, but reaches inside",
                  describe_size(row, row.claim_margin));
}

/// Growth is judged by the two arms' own judgements, and compared by their slopes.
void decide_growth(MeasuredRow& row, double alpha) {
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
  if (is_bounded(growth.baseline) && is_bounded(growth.candidate)) {
    out.verdict = Verdict::unchanged;
    out.reason = "neither grows: " + growth.reason;
  } else if (real && (worse ? growth.candidate : growth.baseline) == GrowthVerdict::growing) {
    out.verdict = direction(row);
    out.reason = fmt::format("{}: {}", change, growth.reason);
  } else {
    out.reason = growth.reason;
  }
}

/// A failed candidate is never hidden behind a verdict on the trials that lived.
void weigh_failures(MeasuredRow& row) {
  Comparison& out = row.comparison;
  const RowValues& values = row.values;
  if (values.candidate_failed == 0) return;
  const std::string what = fmt::format(
      "the candidate {} in {} of {} blocks in which the baseline lived",
      values.candidate_killed_for_memory == values.candidate_failed ? "was killed for memory"
                                                                    : "failed",
      values.candidate_failed, out.n_candidate);
  if (values.candidate_failed == out.n_candidate) {
    out.verdict = Verdict::regressed;
    out.tier = Tier::plain;
    out.blocks_needed.reset();
    out.reason = what;
  } else if (out.verdict == Verdict::regressed) {
    out.reason = out.reason.empty() ? what : what + "; " + out.reason;
  } else {
    out.verdict = Verdict::inconclusive;
    out.tier = Tier::plain;
    out.reason = what;
  }
}

/// More than half of all differences are to a dead candidate: no size can be given, and none is
/// needed.
void decide_dead(MeasuredRow& row) {
  Comparison& out = row.comparison;
  out.verdict = direction(row);
  out.ratio.reset();
  out.difference.reset();
}

void withhold_drift(MeasuredRow& row) {
  Comparison& out = row.comparison;
  if (!may_be_drift(row)) return;
  out.verdict = Verdict::inconclusive;
  out.tier = Tier::plain;
  out.reason = fmt::format("{}, but not measured in turns: a drift of the machine looks the same",
                           describe_effect(row, row.effect));
}

}  // namespace

void decide(MeasuredRow& row, double alpha, int family) {
  if (row.values.candidate_failed > 0 && !std::isfinite(row.effect)) {
    decide_dead(row);
  } else if (row.growth) {
    decide_growth(row, alpha);
  } else if (row.exact) {
    decide_exactly(row);
  } else if (row.test) {
    decide_by_test(row, alpha, family);
    withhold_drift(row);
  } else {
    decide_without_test(row);
  }
  weigh_failures(row);
}

}  // namespace memduel
