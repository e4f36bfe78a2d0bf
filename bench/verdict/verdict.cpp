// The rule that decides a measured row, by itself and among the rows of its run.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "analysis_steps.h"
#include "stats/sample_size.h"
#include "stats/samples.h"
#include "util/process.h"
#include "util/text.h"
#include "verdict/gates.h"
#include "verdict/result_files.h"

namespace memduel {

std::string Doubts::explain(std::string reason) const {
  if (!pending.empty()) return pending;
  for (const std::string& doubt : reasons) reason = doubt + "; otherwise: " + reason;
  return reason;
}

std::string too_few_blocks(int blocks, int needed) {
  return fmt::format("too few trials: {} of at least {}", blocks, needed);
}

int trials_needed(const MeasuredRow& row) {
  const int exact = exact_trials(row.question.family);
  const bool may_be_exact = row.question.metric.exact && one_distinct_value(row.values.baseline) &&
                            one_distinct_value(row.values.candidate);
  return may_be_exact && std::min(row.baselines(), row.candidates()) < exact ? exact
                                                                             : row.least_trials;
}

namespace {

constexpr double kSpreadLevel = 0.01;
constexpr int kPowerDraws = 200;
constexpr const char* kNothingDeclared =
    "; whether higher or lower values are better is not declared";

std::string percent(double share) {
  return fmt::format("{:.4g}%", 100 * share);
}

Verdict direction(const MeasuredRow& row) {
  const Direction better = row.question.metric.better;
  if (better == Direction::undeclared) return Verdict::changed;
  const bool worse = (row.effect > 0) == (better == Direction::lower);
  return worse ? Verdict::regressed : Verdict::improved;
}

Decision cannot_tell(std::string reason) {
  return {Verdict::inconclusive, Tier::plain, std::move(reason)};
}

Decision without_test(const MeasuredRow& row) {
  if (row.values.baseline.empty())
    return cannot_tell("not measured: the baseline failed in every trial");
  const int needed = trials_needed(row);
  Decision decision =
      cannot_tell(too_few_blocks(std::min(row.baselines(), row.candidates()), needed));
  decision.blocks_needed = needed;
  return decision;
}

Decision exactly(const MeasuredRow& row) {
  Decision decision{
      Verdict::unchanged, Tier::plain, "identical in all trials", {row.effect, row.effect}};
  if (row.effect == 0) return decision;
  // The noise floor of other runs says nothing about values that do not vary.
  const bool inside = std::abs(row.effect) <= row.margin;
  if (!inside) decision.verdict = direction(row);
  if (!inside) decision.tier = Tier::strong;
  decision.reason = fmt::format("{} (identical in all trials), {} the margin of {}",
                                row.scale.describe_effect(row.effect), inside ? "within" : "beyond",
                                row.scale.describe_size(row.margin));
  return decision;
}

/// Where the test took out the effect of places, from no change to the ends of the interval that is
/// shown: the rule asks at each shift that the test tries.
std::optional<RemovedPlace> removed_place(const MeasuredRow& row, const Interval& interval) {
  const SwapTest* test = row.test->swaps();
  if (test == nullptr || !std::isfinite(row.effect)) return std::nullopt;
  const PlaceRule& places = test->places();
  const double low = std::min({0.0, row.effect, interval.low});
  const double high = std::max({0.0, row.effect, interval.high});
  const bool changes = std::ranges::any_of(
      places.borders(), [&](double border) { return low <= border && border <= high; });
  if (!changes && !places.acts(row.effect)) return std::nullopt;
  const auto effect = row.scale.shown(places.effect().at(row.effect));
  const auto estimate = row.scale.shown(test->estimate_without_places());
  if (!effect || !estimate) return std::nullopt;
  return RemovedPlace{*effect, places.p_value(row.effect), *estimate, !changes};
}

/// Whether the mean moved with the typical trial. Designs without a test of it are taken as is.
bool mean_follows(const MeasuredRow& row) {
  return row.apart || !row.mean_p || *row.mean_p <= kAlpha;
}

/// A row with a test, at its level.
struct Tested {
  const MeasuredRow& row;
  const RowLevel& level;
  Interval interval;     ///< at alpha
  Interval equivalence;  ///< of the two one-sided tests
  std::optional<RemovedPlace> place;

  /// What has to reach the margin: as the interval, without the effect of the places.
  [[nodiscard]] double effect() const {
    if (!place || place->p_value >= PlaceRule::kPlaceLevel) return row.effect;
    return row.test->swaps()->estimate_without_places();
  }
  [[nodiscard]] bool reaches_margin() const { return std::abs(effect()) >= row.claim_margin; }
  /// Whether the estimate, of the values as they are, lies where the interval does, which is
  /// without the effect of the places.
  [[nodiscard]] bool is_on_one_side() const {
    return row.effect > 0 ? interval.low >= 0 : interval.high <= 0;
  }
};

/// Where so few trials decide no gate that changes alone; else empty.
std::string beyond_reach(const MeasuredRow& row, int family) {
  if (!row.question.gate || row.least_trials <= row.candidates()) return {};
  if (family == 1)
    return fmt::format("; a change in the only comparison needs at least {} trials each",
                       row.least_trials);
  return fmt::format("; a change in only one of {} comparisons needs at least {} trials each",
                     family, row.least_trials);
}

std::string words_on_place(const RowScale& scale, const std::optional<RemovedPlace>& place) {
  if (!place) return {};
  const auto told = [&](double value) {
    return scale.describe_effect(scale.kind == Scale::logarithm ? std::log(value) : value);
  };
  return fmt::format("; a position effect of {} was removed{}; without it the estimate is {}",
                     told(place->effect), place->everywhere ? "" : " from part of the CI",
                     told(place->estimate));
}

std::string why_inconclusive(const Tested& tested) {
  const auto& [row, level, interval, equivalence, place] = tested;
  const std::string margin = row.scale.describe_size(row.claim_margin);
  const std::string effect = row.scale.describe_effect(row.effect);
  if (*level.p_adjusted <= level.alpha && tested.reaches_margin()) {
    return fmt::format(
        "the raw estimate is {}, but the {} CI {} without the position effect is on the other side "
        "of zero",
        effect, percent(1 - level.alpha), row.scale.describe_interval(interval));
  }
  if (*level.p_adjusted <= level.alpha) {
    return fmt::format(
        "the change is significant, but its size is inconclusive: the {} CI {} exceeds "
        "the margin of {}, the estimate of {} does not",
        percent(1 - 2 * level.alpha), row.scale.describe_interval(equivalence), margin,
        row.scale.describe_effect(tested.effect()));
  }
  if (*row.p_value <= level.alpha) {
    return fmt::format(
        "{} would be significant on its own (p = {:.4f}), but is not after correction for "
        "{} comparisons (adjusted p = {:.3f}){}",
        effect, *row.p_value, level.family, *level.p_adjusted, beyond_reach(row, level.family));
  }
  return fmt::format("the {} CI {} includes both no change and changes beyond the margin of {}{}",
                     percent(1 - level.alpha), row.scale.describe_interval(interval), margin,
                     beyond_reach(row, level.family));
}

std::string words_on_mean(const MeasuredRow& row) {
  if (mean_follows(row)) return {};
  return fmt::format(
      "; the typical trial changed, but a change of the mean is not significant (p = {:.3f})",
      *row.mean_p);
}

/// A difference of spread alone is no verdict, but worth a word.
std::string words_on_spread(const MeasuredRow& row) {
  if (!row.spread_p || *row.spread_p > kSpreadLevel) return {};
  const auto range = [&](const std::vector<double>& values) {
    const auto [low, high] = std::ranges::minmax_element(values);
    return format_interval(format_metric(row.scale.metric, *low),
                           format_metric(row.scale.metric, *high));
  };
  return fmt::format("; the spread differs: {} vs. {}", range(row.values.baseline),
                     range(row.values.candidate));
}

Decision by_test(const MeasuredRow& row, const RowLevel& level) {
  const double alpha = level.alpha;
  const Interval interval = row.test->interval(alpha);
  const Tested tested{row, level, interval, row.test->interval(2 * alpha),
                      removed_place(row, interval)};
  const Interval& equivalence = tested.equivalence;
  const bool real = *level.p_adjusted <= alpha;
  Decision decision{Verdict::inconclusive, Tier::plain, "", interval, 1 - alpha, tested.place};
  // A failed trial is no difference that does not matter.
  if (row.values.candidate_failed == 0 && equivalence.low >= -row.margin &&
      equivalence.high <= row.margin) {
    decision.verdict = Verdict::unchanged;
    decision.interval = equivalence;
    decision.confidence = 1 - 2 * alpha;
    decision.removed_place = removed_place(row, equivalence);
    decision.reason =
        fmt::format("{}the {} CI {} is within the margin of {}{}{}",
                    real ? "significant but negligible: " : "", percent(1 - 2 * alpha),
                    row.scale.describe_interval(equivalence), row.scale.describe_size(row.margin),
                    words_on_place(row.scale, decision.removed_place), words_on_spread(row));
    return decision;
  }
  const std::string on_place = words_on_place(row.scale, tested.place);
  // The level at which this row was tested within its family.
  const double own_alpha = *level.p_adjusted > 0 ? alpha * *row.p_value / *level.p_adjusted : alpha;
  if (!real || !tested.reaches_margin() || !tested.is_on_one_side()) {
    decision.reason = why_inconclusive(tested) + on_place + words_on_spread(row);
    if (real || *row.p_value > alpha) return decision;
    // The correction alone leaves it open: at its level the interval includes no change. Few trials
    // have none at that level.
    const Interval own = row.test->interval(own_alpha);
    if (!std::isfinite(own.low) || !std::isfinite(own.high)) return decision;
    decision.interval = own;
    decision.confidence = 1 - own_alpha;
    decision.removed_place = removed_place(row, own);
    return decision;
  }
  const Interval own = row.test->interval(own_alpha);
  const bool clears = own.low >= row.claim_margin || own.high <= -row.claim_margin;
  decision.verdict = direction(row);
  if (clears && mean_follows(row)) decision.tier = Tier::strong;
  decision.reason =
      fmt::format("{} ({} CI {}), {} the margin of {}{}{}{}", row.scale.describe_effect(row.effect),
                  percent(1 - alpha), row.scale.describe_interval(interval),
                  clears ? "clearly beyond" : "significant, but not clearly beyond",
                  row.scale.describe_size(row.claim_margin),
                  row.apart ? "; the values of the two variants do not overlap" : "",
                  words_on_mean(row), on_place);
  return decision;
}

/// Growth is judged by the two variants' own judgements, and compared by their trials' slopes.
Decision by_growth(const MeasuredRow& row, const RowLevel& level) {
  const GrowthDifference& growth = *row.growth;
  const Interval interval = growth.difference.interval(level.alpha);
  const Interval equivalence = growth.difference.interval(2 * level.alpha);
  const bool neither = is_bounded(growth.baseline) && is_bounded(growth.candidate);
  const bool both =
      growth.baseline == GrowthVerdict::growing && growth.candidate == GrowthVerdict::growing;
  const bool inside = equivalence.low >= -row.margin && equivalence.high <= row.margin;
  if (inside && (neither || both))
    return {Verdict::unchanged, Tier::plain,
            fmt::format("{}: {}", neither ? "neither variant grows" : "both variants grow equally",
                        growth.reason),
            equivalence, 1 - 2 * level.alpha};
  const std::string change = row.scale.describe_effect(row.effect);
  Decision decision{Verdict::inconclusive, Tier::plain, growth.reason, interval, 1 - level.alpha};
  if (!level.p_adjusted || *level.p_adjusted > level.alpha) return decision;
  if (std::abs(row.effect) < row.claim_margin) {
    decision.reason = fmt::format("{} is within the margin of {}: {}", change,
                                  row.scale.describe_size(row.claim_margin), growth.reason);
    return decision;
  }
  const GrowthVerdict of_more = row.effect > 0 ? growth.candidate : growth.baseline;
  if (of_more == GrowthVerdict::growing) decision.verdict = direction(row);
  decision.reason = fmt::format("{}{}: {}", change,
                                of_more == GrowthVerdict::growing ? "" : " so far", growth.reason);
  return decision;
}

Decision of_living(const MeasuredRow& row, const RowLevel& level) {
  if (row.growth) return by_growth(row, level);
  if (row.exact) return exactly(row);
  if (!row.test) return without_test(row);
  Decision decision = by_test(row, level);
  if (!row.may_be_drift()) return decision;
  decision.verdict = Verdict::inconclusive;
  decision.tier = Tier::plain;
  decision.reason = fmt::format(
      "{}, but the trials were not interleaved, so machine drift could cause the same difference",
      row.scale.describe_effect(row.effect));
  return decision;
}

/// A failed candidate is never hidden behind a decision on the trials that lived. More than half of
/// all differences to a dead one leave no size, and none is needed.
Decision decision_on(const MeasuredRow& row, const RowLevel& level) {
  const RowValues& values = row.values;
  if (values.candidate_failed == 0) return of_living(row, level);
  Decision decision =
      std::isfinite(row.effect) ? of_living(row, level) : Decision{Verdict::regressed, Tier::plain};
  const std::string first = values.failure.substr(0, values.failure.find('\n'));
  const std::string what = fmt::format(
      "the candidate {} in {} of {} in which the baseline succeeded{}{}",
      values.candidate_killed_for_memory == values.candidate_failed ? kKilledForMemory : "failed",
      values.candidate_failed, format_count(row.candidates(), "trial"),
      first.empty() ? "" : "; the first failure: ", first);
  const bool all_failed = values.candidate_failed == row.candidates();
  if (all_failed) decision.blocks_needed.reset();
  if (all_failed || decision.verdict != Verdict::regressed) {
    decision.verdict = all_failed ? Verdict::regressed : Verdict::inconclusive;
    decision.tier = Tier::plain;
    decision.reason = what;
  } else {
    decision.reason = decision.reason.empty() ? what : what + "; " + decision.reason;
  }
  return decision;
}

/// What a row's noise lets it find, and the blocks that an inconclusive one should take.
struct Power {
  std::optional<double> minimum_detectable = std::nullopt;
  std::optional<int> blocks_needed = std::nullopt;
  std::string words = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

Power power_of(const MeasuredRow& row, Verdict verdict, const Interval& interval, double alpha,
               const PowerQuestion& question) {
  if (row.exact) return {.minimum_detectable = 0};
  if (!row.test) return {};
  const RowScale& scale = row.scale;
  const std::optional<Noise> noise =
      noise_of(scale.of(row.values.baseline), scale.of(row.values.candidate));
  if (!noise) return {};
  Power power;
  Random random(question.seed);
  const Design design = row.question.design;
  const double level = alpha / question.sharing;
  const auto blocks = static_cast<int>(noise->a.size());
  const EstimateScatter scatter = scatter_of(*noise, blocks, kPowerDraws, random);
  if (const auto found = detectable_shift(scatter, blocks, design, level, row.claim_margin))
    power.minimum_detectable = scale.kind == Scale::logarithm ? std::expm1(*found) : *found;
  if (verdict != Verdict::inconclusive || row.may_be_drift()) return power;
  if (const auto needed = blocks_to_settle(scatter, row.effect, row.claim_margin, blocks, design,
                                           level, (interval.high - interval.low) / 2))
    power.blocks_needed = std::max(*needed, row.least_trials);
  power.words = power.blocks_needed
                    ? fmt::format("; about {} trials each should decide it", *power.blocks_needed)
                    : fmt::format("; with this noise, even {} trials each would not decide it",
                                  kMostUsefulBlocks);
  return power;
}

std::optional<double> largest(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : finite(*std::ranges::max_element(values));
}

/// The row as it is shown.
Comparison shown_row_of(const MeasuredRow& row, const RowLevel& level, const Decision& decision,
                        const Doubts& doubts, const Power& power) {
  const RowQuestion& asked = row.question;
  const RowScale& scale = row.scale;
  const bool doubted = doubts.any();
  const bool pending = !doubts.pending.empty();
  Comparison out;
  out.baseline = asked.baseline;
  out.candidate = asked.candidate;
  out.role = asked.role;
  out.metric = asked.metric.name;
  out.gate = asked.gate;
  out.advisory_gate = asked.advisory_gate;
  out.baseline_median = scale.typical;
  out.candidate_median = row.candidate_median;
  if (scale.kind == Scale::logarithm && row.difference) out.ratio = scale.shown(row.effect);
  out.difference = row.difference;
  out.ci_low = scale.shown(decision.interval.low);
  out.ci_high = scale.shown(decision.interval.high);
  out.p_value = row.p_value;
  out.p_adjusted = level.p_adjusted;
  out.n_baseline = row.baselines();
  out.n_candidate = row.candidates();
  out.verdict = doubted ? Verdict::inconclusive : decision.verdict;
  out.tier = doubted ? Tier::plain : decision.tier;
  out.reason = (doubted ? doubts.explain(decision.reason) : decision.reason) + power.words;
  out.exact = row.exact;
  out.test = row.method();
  out.p_mean = row.mean_p;
  out.correction = level.correction;
  if (row.test && row.test->swaps() != nullptr)
    out.reference_orders = count_of(row.test->swaps()->values().swaps);
  out.removed_place = decision.removed_place;
  out.apart = row.apart;
  out.margin = scale.kind == Scale::logarithm ? std::expm1(row.margin) : row.margin;
  out.confidence = decision.confidence;
  out.baseline_max = largest(row.values.baseline);
  out.candidate_max = largest(row.values.candidate);
  out.blocks_needed = power.blocks_needed ? power.blocks_needed
                      : pending           ? std::nullopt
                                          : decision.blocks_needed;
  out.minimum_detectable = power.minimum_detectable;
  return out;
}

}  // namespace

DecidedRow decide(MeasuredRow row, const RowLevel& level, const Doubts& doubts,
                  std::optional<PowerQuestion> power) {
  Decision decision = decision_on(row, level);
  if (decision.verdict == Verdict::changed) decision.reason += kNothingDeclared;
  Comparison shown = shown_row_of(
      row, level, decision, doubts,
      power ? power_of(row, decision.verdict, decision.interval, level.alpha, *power) : Power());
  return {std::move(row), std::move(decision), std::move(shown)};
}

namespace {

/// Numbers of rows with a p-value.
using Family = std::vector<std::size_t>;

template <typename Belongs>
Family tested(const std::vector<MeasuredRow>& rows, Belongs belongs) {
  Family family;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].p_value && belongs(rows[i])) family.push_back(i);
  return family;
}

struct CorrectedP {
  std::size_t row;
  double p;
  const char* correction;
};
using Correction = std::vector<CorrectedP>;

Correction corrected(const Family& family, const std::vector<double>& adjusted, const char* name,
                     double factor) {
  Correction all;
  for (std::size_t i = 0; i < family.size(); ++i)
    all.push_back({family[i], std::min(1.0, factor * adjusted[i]), name});
  return all;
}

Correction correct(const std::vector<MeasuredRow>& rows, const Family& family,
                   std::vector<double> (*by)(std::span<const double>), const char* name,
                   double factor = 1) {
  std::vector<double> p;
  for (const std::size_t row : family) p.push_back(*rows[row].p_value);
  return corrected(family, by(p), name, factor);
}

Correction correct_together(const std::vector<MeasuredRow>& rows, const Family& family,
                            double factor) {
  std::vector<SwappedTest> tests;
  for (const std::size_t row : family)
    tests.push_back({rows[row].test->swaps()->ranks_at(0), *rows[row].p_value});
  return corrected(family, westfall_young(rows[family.front()].test->swaps()->values(), tests),
                   kWestfallYoung, factor);
}

/// Of the gate rows of one candidate, those whose labels are swapped in the same ways: all that
/// lack no trial.
Family with_same_swaps(const std::vector<MeasuredRow>& rows, const Family& family) {
  const auto swaps_of = [&](std::size_t row) {
    return rows[row].test ? rows[row].test->swaps() : nullptr;
  };
  const SwapTest* most = nullptr;
  for (const std::size_t row : family) {
    const SwapTest* own = swaps_of(row);
    if (own != nullptr &&
        (most == nullptr || own->values().values.size() > most->values().values.size()))
      most = own;
  }
  Family same;
  for (const std::size_t row : family)
    if (const SwapTest* own = swaps_of(row);
        own != nullptr && own->values().swaps == most->values().swaps)
      same.push_back(row);
  return same;
}

/// The level is shared in equal parts by all candidates, and within one by all of its gates.
Correction correct_gates(const std::vector<MeasuredRow>& rows, const Family& gates) {
  std::map<std::string, Family> by_candidate;
  for (const std::size_t row : gates) by_candidate[rows[row].question.candidate].push_back(row);
  Correction all;
  const auto add = [&](const Correction& more) { all.insert(all.end(), more.begin(), more.end()); };
  for (const auto& [candidate, family] : by_candidate) {
    const Family together = with_same_swaps(rows, family);
    Family others;
    std::ranges::set_difference(family, together, std::back_inserter(others));
    const auto share = static_cast<double>(by_candidate.size() * family.size());
    if (!together.empty())
      add(correct_together(rows, together, share / static_cast<double>(together.size())));
    if (!others.empty())
      add(correct(rows, others, holm, kHolm, share / static_cast<double>(others.size())));
  }
  return all;
}

bool is_of_control(const Inquiry& inquiry, const MeasuredRow& row) {
  return inquiry.view.control_arms.contains(row.question.candidate);
}

bool is_control_gate(const Inquiry& inquiry, const MeasuredRow& row) {
  return is_of_control(inquiry, row) &&
         is_gate_row(inquiry.gates, row.question.role, row.question.metric.name);
}

/// The time and the peak RSS of the job, which are compared in every run and are no rows among
/// many.
bool is_headline(const Inquiry& inquiry, const MeasuredRow& row) {
  const RowQuestion& asked = row.question;
  return !asked.gate && !is_of_control(inquiry, row) &&
         (asked.metric.name == kRoundSeconds || asked.metric.name == kPeakRss) &&
         (asked.role == inquiry.run.job.reference || asked.role == kTree);
}

/// Of each row its level, the size of its family, and its corrected p.
std::vector<RowLevel> levels_of(const std::vector<MeasuredRow>& rows, const Inquiry& inquiry) {
  const auto is_of_twin = [&](const MeasuredRow& row) { return is_control_gate(inquiry, row); };
  const auto is_gate = [](const MeasuredRow& row) { return row.question.gate; };
  const Family controls = tested(rows, is_of_twin);
  const Family gates = tested(rows, is_gate);
  const Family advisory = tested(rows, [&](const MeasuredRow& row) {
    return !is_gate(row) && !is_of_twin(row) && !is_headline(inquiry, row);
  });
  std::map<std::pair<std::string, std::string>, Family> headlines;  // by metric and role
  for (const std::size_t row :
       tested(rows, [&](const MeasuredRow& one) { return is_headline(inquiry, one); }))
    headlines[{rows[row].question.metric.name, rows[row].question.role}].push_back(row);
  std::vector<RowLevel> levels(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    levels[i] = {inquiry.alpha, static_cast<int>(is_of_twin(rows[i]) ? controls.size()
                                                 : is_gate(rows[i])  ? gates.size()
                                                                     : advisory.size())};
  std::vector<Correction> corrections = {
      correct(rows, controls, holm, kHolm),
      has_places(inquiry.settings.design) ? correct_gates(rows, gates)
                                          : correct(rows, gates, holm, kHolm),
      correct(rows, advisory, benjamini_hochberg, kBenjaminiHochberg)};
  for (const auto& [asked, family] : headlines) {
    corrections.push_back(correct(rows, family, holm, kHolm));
    for (const std::size_t row : family) levels[row].family = static_cast<int>(family.size());
  }
  for (const Correction& correction : corrections)
    for (const CorrectedP& one : correction) {
      levels[one.row].p_adjusted = one.p;
      levels[one.row].correction = one.correction;
    }
  return levels;
}

/// A warning that names the first gate row in which a hidden twin of the baseline seems to differ
/// from it; absent where none does.
std::optional<Note> flagged_control(const std::vector<std::optional<DecidedRow>>& controls) {
  for (const auto& row : controls) {
    if (!row) continue;
    const Comparison& out = row->comparison;
    if (out.verdict != Verdict::improved && out.verdict != Verdict::regressed) continue;
    return Note{"control_flagged",
                fmt::format("the A/A control differs from the baseline ({}.{}: {}), so every "
                            "verdict of this run is inconclusive",
                            out.role, out.metric, out.reason),
                "find out what changed during the run, then rerun on a quieter machine"};
  }
  return std::nullopt;
}

Doubts doubts_of(const Inquiry& inquiry, bool is_control_flagged) {
  Doubts doubts;
  if (is_control_flagged) doubts.reasons.emplace_back("the A/A control differs from the baseline");
  const auto& warnings = inquiry.run.warnings;
  if (std::ranges::find(warnings, kOtherEnvironment, &Note::code) != warnings.end())
    doubts.reasons.emplace_back("the two variants were measured in different environments");
  doubts.pending = inquiry.pending;
  return doubts;
}

}  // namespace

void put_in_telling_order(std::vector<DecidedRow>& rows) {
  std::map<std::string, std::size_t> candidates;
  for (const DecidedRow& row : rows)
    candidates.emplace(row.comparison.candidate, candidates.size());
  std::ranges::stable_sort(rows, {}, [&](const DecidedRow& decided) {
    const Comparison& row = decided.comparison;
    const int rank = row.exact && row.is_change() ? 0 : row.gate ? 1 : row.is_asked() ? 2 : 3;
    return std::pair(candidates.at(row.candidate), rank);
  });
}

DecidedRows decide_rows(std::vector<MeasuredRow> rows, const Inquiry& inquiry) {
  const std::vector<RowLevel> levels = levels_of(rows, inquiry);
  // The twin's gate rows come first: the whole run may be doubted by them, they themselves not.
  std::vector<std::optional<DecidedRow>> decided(rows.size());
  const auto decide_one = [&](std::size_t i, const Doubts& doubts, bool is_pending) {
    // Advisory rows are sized as if they stood alone: their correction depends on all the others.
    const PowerQuestion power{rows[i].question.gate ? levels[i].family : 1, inquiry.settings.seed};
    decided[i] = decide(std::move(rows[i]), levels[i], doubts,
                        is_pending ? std::nullopt : std::optional(power));
  };
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (is_control_gate(inquiry, rows[i])) decide_one(i, {}, false);
  DecidedRows all{{}, {}, flagged_control(decided)};
  all.doubts = doubts_of(inquiry, all.warning.has_value());
  run_parallel(rows.size(), [&](std::size_t i) {
    if (!decided[i])
      decide_one(i, is_of_control(inquiry, rows[i]) ? Doubts() : all.doubts,
                 !all.doubts.pending.empty());
  });
  for (std::optional<DecidedRow>& row : decided) all.rows.push_back(std::move(*row));
  put_in_telling_order(all.rows);
  return all;
}

}  // namespace memduel
