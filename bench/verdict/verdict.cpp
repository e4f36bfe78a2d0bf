// The rule that decides a measured row, and the doubts that take the verdicts of a whole run back.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "comparison_rows.h"
#include "model/run_data.h"
#include "stats/sample_size.h"
#include "stats/samples.h"
#include "util/text.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

bool flagged(const Comparison& row) {
  return row.verdict == Verdict::improved || row.verdict == Verdict::regressed;
}

}  // namespace

const Growth* growth_of(const std::vector<Growth>& growth, const std::string& arm,
                        const std::string& role, const std::string& metric) {
  const auto at = std::ranges::find_if(growth, [&](const Growth& one) {
    return one.arm == arm && one.role == role && one.metric == metric;
  });
  return at == growth.end() ? nullptr : &*at;
}

std::optional<Note> flagged_control(const std::vector<MeasuredRow>& rows,
                                    const std::set<std::string>& controls,
                                    const std::vector<Gate>& gates) {
  for (const MeasuredRow& row : rows) {
    const Comparison& out = row.comparison;
    if (!controls.contains(out.candidate) || !flagged(out)) continue;
    if (!is_gate_row(gates, out.role, out.metric)) continue;
    return Note{"control_flagged",
                fmt::format("the run's own control differs from the baseline ({}.{}: {}), so no "
                            "verdict of this run is believed",
                            out.role, out.metric, out.reason),
                "look for what changed during the run, then repeat it on a quieter machine"};
  }
  return std::nullopt;
}

std::string Doubts::explain(std::string reason) const {
  if (!pending.empty()) return pending;
  for (const std::string& doubt : reasons) reason = doubt + "; without that: " + reason;
  return reason;
}

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
  out.blocks_needed = trials_needed(row);
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

/// Whether the mean moved with the typical trial. Designs without a test of it are taken as is.
bool mean_follows(const MeasuredRow& row) {
  return row.comparison.apart || !row.mean_p || *row.mean_p <= kAlpha;
}

/// What has to reach the margin: as the interval, without the effect of the places.
double judged_effect(const MeasuredRow& row) {
  const auto& place = row.comparison.removed_place;
  if (!place || place->p_value >= PlaceRule::kPlaceLevel) return row.effect;
  return row.test->swaps()->estimate_without_places();
}

/// Whether the estimate, of the values as they are, lies where the interval does, which is without
/// the effect of the places.
bool is_on_one_side(const MeasuredRow& row, const Interval& interval) {
  return row.effect > 0 ? interval.low >= 0 : interval.high <= 0;
}

/// Where so few trials decide no gate that changes alone; else empty.
std::string beyond_reach(const MeasuredRow& row, int family) {
  if (!row.comparison.gate || row.least_trials <= row.comparison.n_candidate) return {};
  return fmt::format("; {} need {} blocks to decide one that changes alone",
                     format_count(static_cast<std::size_t>(family), "comparison"),
                     row.least_trials);
}

std::string words_on_place(const MeasuredRow& row) {
  const auto& place = row.comparison.removed_place;
  if (!place) return {};
  const auto told = [&](double value) {
    return describe_effect(row, row.scale == Scale::logarithm ? std::log(value) : value);
  };
  return fmt::format("; the place effect of {} is removed{}; the estimate without it is {}",
                     told(place->effect), place->everywhere ? "" : " from a part of the interval",
                     told(place->estimate));
}

std::string why_inconclusive(const MeasuredRow& row, double alpha, int family,
                             const Interval& interval, const Interval& equivalence) {
  const Comparison& out = row.comparison;
  const std::string margin = describe_size(row, row.claim_margin);
  const double effect = judged_effect(row);
  if (*out.p_adjusted <= alpha && std::abs(effect) >= row.claim_margin) {
    return fmt::format(
        "{} of the values as they are, but the {} interval {} lies on the other side",
        describe_effect(row, row.effect), percent(1 - alpha), describe_interval(row, interval));
  }
  if (*out.p_adjusted <= alpha) {
    return fmt::format(
        "a change is real, its size is not settled: the {} interval {} reaches past "
        "the margin of {}, the estimate {} does not",
        percent(1 - 2 * alpha), describe_interval(row, equivalence), margin,
        describe_effect(row, effect));
  }
  if (*out.p_value <= alpha) {
    return fmt::format(
        "{} would count alone (p {:.4f}), but not as one of {} rows judged together "
        "(corrected p {:.3f}){}",
        describe_effect(row, row.effect), *out.p_value, family, *out.p_adjusted,
        beyond_reach(row, family));
  }
  return fmt::format("the {} interval {} holds no change as well as more than the margin of {}{}",
                     percent(1 - alpha), describe_interval(row, interval), margin,
                     beyond_reach(row, family));
}

std::string words_on_mean(const MeasuredRow& row) {
  return fmt::format("; the typical trial changed; a change of the mean is not shown (p {:.3f})",
                     *row.mean_p);
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
void set_interval(MeasuredRow& row, const Interval& interval, double confidence) {
  Comparison& out = row.comparison;
  out.confidence = confidence;
  out.ci_low = shown(row, interval.low);
  out.ci_high = shown(row, interval.high);
}

Decision by_test(MeasuredRow& row, double alpha, int family) {
  Comparison& out = row.comparison;
  const Interval interval = row.test->interval(alpha);
  const Interval equivalence = row.test->interval(2 * alpha);
  const std::string margin = describe_size(row, row.margin);
  set_interval(row, interval, 1 - alpha);
  set_removed_place(row, interval);
  out.p_mean = row.mean_p;
  // A failed trial is no difference that does not matter.
  if (row.values.candidate_failed == 0 && equivalence.low >= -row.margin &&
      equivalence.high <= row.margin) {
    set_interval(row, equivalence, 1 - 2 * alpha);
    set_removed_place(row, equivalence);
    return {Verdict::unchanged, Tier::plain,
            fmt::format("{}the {} interval {} lies inside the margin of {}{}",
                        *out.p_adjusted <= alpha ? "measurable but negligible: " : "",
                        percent(1 - 2 * alpha), describe_interval(row, equivalence), margin,
                        words_on_place(row) + words_on_spread(row))};
  }
  if (*out.p_adjusted > alpha || std::abs(judged_effect(row)) < row.claim_margin ||
      !is_on_one_side(row, interval))
    return cannot_tell(why_inconclusive(row, alpha, family, interval, equivalence) +
                       words_on_place(row) + words_on_spread(row));
  // The level at which this row was tested within its family.
  const double own_alpha = *out.p_adjusted > 0 ? alpha * *out.p_value / *out.p_adjusted : alpha;
  const Interval own = row.test->interval(own_alpha);
  const bool clears = own.low >= row.claim_margin || own.high <= -row.claim_margin;
  return {
      direction(row), clears && mean_follows(row) ? Tier::strong : Tier::plain,
      fmt::format("{}, {} interval {}: {} the margin of {}{}{}{}", describe_effect(row, row.effect),
                  percent(1 - alpha), describe_interval(row, interval),
                  clears ? "all of it beyond" : "no longer zero, but reaches inside",
                  describe_size(row, row.claim_margin),
                  out.apart ? "; the values of the two do not overlap" : "",
                  mean_follows(row) ? "" : words_on_mean(row), words_on_place(row))};
}

/// Growth is judged by the two variants' own judgements, and compared by their trials' slopes.
Decision by_growth(MeasuredRow& row, double alpha) {
  Comparison& out = row.comparison;
  const GrowthDifference& growth = *row.growth;
  const Interval interval = growth.difference.interval(alpha);
  const Interval equivalence = growth.difference.interval(2 * alpha);
  set_interval(row, interval, 1 - alpha);
  const bool neither = is_bounded(growth.baseline) && is_bounded(growth.candidate);
  const bool both =
      growth.baseline == GrowthVerdict::growing && growth.candidate == GrowthVerdict::growing;
  const bool inside = equivalence.low >= -row.margin && equivalence.high <= row.margin;
  if (inside && (neither || both)) {
    set_interval(row, equivalence, 1 - 2 * alpha);
    return {Verdict::unchanged, Tier::plain,
            fmt::format("{}: {}", neither ? "neither grows" : "both grow alike", growth.reason)};
  }
  const bool real = out.p_adjusted && *out.p_adjusted <= alpha;
  const std::string change = describe_effect(row, row.effect);
  if (real && std::abs(row.effect) < row.claim_margin)
    return cannot_tell(fmt::format("{} is below the margin of {}: {}", change,
                                   describe_size(row, row.claim_margin), growth.reason));
  const bool worse = row.effect > 0;
  if (real && (worse ? growth.candidate : growth.baseline) == GrowthVerdict::growing)
    return {direction(row), Tier::plain, fmt::format("{}: {}", change, growth.reason)};
  return cannot_tell(real ? fmt::format("{} so far: {}", change, growth.reason) : growth.reason);
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

int trials_needed(const MeasuredRow& row) {
  const int n = std::min(row.comparison.n_baseline, row.comparison.n_candidate);
  const int exact = exact_trials(row.family);
  const bool may_be_exact = row.metric.exact && one_distinct_value(row.values.baseline) &&
                            one_distinct_value(row.values.candidate);
  return may_be_exact && n < exact ? exact : row.least_trials;
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
