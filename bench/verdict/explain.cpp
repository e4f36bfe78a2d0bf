#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/metric_catalogue.h"
#include "model/metric_names.h"
#include "model/renamed_since_1.h"
#include "stats/estimates.h"
#include "stats/hypothesis_tests.h"
#include "stats/samples.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/comparison.h"
#include "verdict/questions.h"

namespace memduel {
namespace {

constexpr size_t kMostDistinct = 8;

std::string row_name(const Comparison& row) {
  return row.role + "." + row.metric;
}

std::string show(const Comparison& row, std::optional<double> value) {
  return format_metric(row.metric, value);
}

/// An end of the interval or the estimate: a change in percent where the row has a ratio.
std::string show_change(const Comparison& row, std::optional<double> value) {
  if (!value) return "unbounded";
  if (row.ratio) return format_change(*value);
  return (*value > 0 ? "+" : "") + format_metric(row.metric, value);
}

std::string show_size(const Comparison& row, std::optional<double> size) {
  if (!size) return "unknown";
  return row.ratio ? format_size(row.metric, *size, row.baseline_median)
                   : format_metric(row.metric, size);
}

std::string show_p(double p) {
  return p < 0.0001 ? "p < 0.0001" : fmt::format("p = {:.4f}", p);
}

/// Null for a metric that is no growth, or was not judged.
const Growth* growth_row(const Results& results, const std::string& variant,
                         const Comparison& row) {
  const auto at = std::ranges::find_if(results.growth, [&](const Growth& growth) {
    return growth.arm == variant && growth.role == row.role && growth.metric == row.metric;
  });
  return at == results.growth.end() ? nullptr : &*at;
}

/// The numbers that the row was decided by: of growth, the slope of every trial as it was judged.
std::vector<double> decisive_values(const Results& results, const ArmObservations& variant,
                                    const Comparison& row) {
  const Growth* growth = growth_row(results, variant.arm, row);
  if (growth == nullptr || growth->trial_slopes.empty())
    return values_of(variant, row.role, row.metric);
  std::vector<double> slopes;
  for (const TrialSlope& trial : growth->trial_slopes) slopes.push_back(trial.slope);
  return slopes;
}

std::string describe_arm(const Results& results, const Comparison& row, const std::string& arm,
                         const std::vector<double>& values, std::optional<double> median,
                         int trials) {
  const Growth* growth = growth_row(results, arm, row);
  std::string text = fmt::format("  {}: {} {}", arm, growth != nullptr ? "mean slope" : "median",
                                 show(row, median));
  if (growth != nullptr && growth->ci_low && growth->ci_high)
    text += fmt::format(" ({:.4g}% CI {} to {})", 100 * growth->confidence,
                        show(row, growth->ci_low), show(row, growth->ci_high));
  if (values.empty()) return text + "\n";
  if (growth == nullptr && values.size() < static_cast<size_t>(trials))
    text += fmt::format(
        "; {} of {} trials failed and count as larger than any value; the others in trial order:",
        static_cast<size_t>(trials) - values.size(), trials);
  else if (growth == nullptr)
    text += "; in trial order:";
  else if (values.size() < static_cast<size_t>(trials))
    text += fmt::format("; {} of {} trials have a slope, in trial order:", values.size(), trials);
  else
    text += "; the slope of each trial, in trial order:";
  for (const double value : values) text += " " + format_metric(row.metric, value) + ",";
  text.pop_back();
  return text + "\n";
}

std::string describe_test(const Comparison& row) {
  if (!row.p_value) return {};
  std::string text = "Significance\n";
  if (row.test == kSuperblocks) {
    text += fmt::format(
        "  {} (exact permutation test on pooled ranks, all {}orders that could have been drawn).\n"
        "  If the variants did not differ, or differed in the other direction, at most this "
        "fraction of the orders\n"
        "  would give a difference at least as large.\n",
        show_p(*row.p_value),
        row.reference_orders ? fmt::format("{:.0f} ", *row.reference_orders) : "");
    if (row.p_mean)
      text +=
          fmt::format("  The same test of the mean gives {} (studentized).\n", show_p(*row.p_mean));
  } else if (row.test == kSignFlips) {
    text += fmt::format(
        "  {} (exact paired sign-flip test on pooled mid-ranks, all 2^{} sign flips).\n"
        "  If the variants did not differ, this fraction of the sign flips would give a difference "
        "at least as large.\n",
        show_p(*row.p_value), row.n_baseline);
  } else if (row.test == kMannWhitney) {
    text += fmt::format(
        "  {} (exact Mann-Whitney test).\n"
        "  If the variants did not differ, this fraction of all assignments of the values to the "
        "variants would give\n"
        "  a difference at least as large.\n",
        show_p(*row.p_value));
  } else {
    text += fmt::format(
        "  {} (Welch's t test, one slope per trial).\n"
        "  If both variants grew equally, this fraction of runs would show a difference at least "
        "as "
        "large.\n",
        show_p(*row.p_value));
  }
  if (row.p_adjusted && *row.p_adjusted != *row.p_value) {
    text += fmt::format("  Adjusted for the other rows {} a deciding gate: {}{}.\n",
                        row.gate ? "with" : "without", show_p(*row.p_adjusted),
                        row.correction.empty() ? "" : " (" + row.correction + ")");
  }
  return text;
}

std::string describe_effect_of(const Comparison& row, bool of_slopes) {
  if (!row.ratio && !row.difference) return {};
  std::string text = "Effect size\n";
  const std::string change = show_change(row, row.ratio ? row.ratio : row.difference);
  text +=
      row.exact
          ? fmt::format(
                "  {}: each variant has the same value in all trials, so nothing is estimated.\n",
                change)
      : of_slopes
          ? fmt::format("  {} is the mean slope of {} minus the mean slope of {}.\n", change,
                        row.candidate, row.baseline)
          : fmt::format(
                "  {} is the median of all {} differences between a trial of {} and one of {} "
                "(Hodges-Lehmann).\n",
                change, row.n_baseline * row.n_candidate, row.candidate, row.baseline);
  if (const auto& place = row.removed_place)
    text += fmt::format(
        "  The second of two consecutive trials has {}, whichever variant it is ({}). The test "
        "and the CI correct\n"
        "  for this position effect{}; the corrected change is {}.\n",
        show_change(row, place->effect), show_p(place->p_value),
        place->everywhere ? std::string()
                          : fmt::format(" at the changes they try for which its p is below {:.2f}",
                                        PlaceRule::kPlaceLevel),
        show_change(row, place->estimate));
  if (row.apart && !row.exact) text += "  The values of the two variants do not overlap.\n";
  if (!row.exact && (row.ci_low || row.ci_high)) {
    const std::string low = show_change(row, row.ci_low);
    const std::string high = show_change(row, row.ci_high);
    text += fmt::format("  {:.4g}% CI: {}.\n", 100 * row.confidence,
                        low == high ? low + " (both ends round to the same value)"
                                    : fmt::format("{} to {}", low, high));
  }
  text +=
      fmt::format("  Margin: a change below {} counts as unchanged.\n", show_size(row, row.margin));
  if (row.minimum_detectable && *row.minimum_detectable > 0) {
    text +=
        fmt::format("  Minimum detectable effect with this noise and {} each: {} (80% power).\n",
                    format_count(row.n_candidate, "trial"), show_size(row, row.minimum_detectable));
  }
  return text;
}

std::string describe_tail(const Comparison& row, const std::vector<double>& values) {
  if (values.empty()) return {};
  const Tail of = tail(values);
  const auto n = static_cast<int>(values.size());
  std::string text = fmt::format(
      "Tail\n"
      "  Largest value of {}: {}. With 95% confidence, fewer than {:.0f}% of its trials exceed "
      "it.\n",
      row.candidate, format_metric(row.metric, of.maximum), 100 * exceedance_bound(0, n));
  std::vector<std::pair<std::string, int>> shown;  // values that read alike are one
  for (const DistinctValue& value : of.distinct) {
    std::string as_shown = format_metric(row.metric, value.value);
    if (shown.empty() || shown.back().first != as_shown) shown.emplace_back(std::move(as_shown), 0);
    shown.back().second += value.count;
  }
  if (shown.size() > kMostDistinct || shown.size() == values.size()) return text;
  std::vector<std::string> counts;
  for (const auto& [value, count] : shown) counts.push_back(fmt::format("{} x {}", count, value));
  return text + fmt::format("  Distinct values: {}\n", fmt::join(counts, ", "));
}

/// Of one role and metric of a variant.
std::string describe_gates(const Results& results, const std::string& variant,
                           std::string_view role_metric) {
  std::string text;
  for (const GateResult& gate : results.gates) {
    if (gate.candidate != variant || gate.role + "." + gate.metric != role_metric) continue;
    text += fmt::format(
        "{} {}: {}\n", gate.advisory ? "Advisory gate" : "Gate", gate.name(),
        gate.not_measured ? gate.reason : fmt::format("{}: {}", gate.word(), gate.reason));
  }
  return text;
}

std::string describe_growth(const Results& results, const Comparison& row) {
  std::string text;
  for (const Growth& growth : results.growth) {
    if (growth.role != row.role || growth.metric != row.metric) continue;
    if (growth.arm != row.candidate && growth.arm != row.baseline) continue;
    text +=
        fmt::format("Growth of {} ({}): {}\n", growth.arm, to_name(growth.verdict), growth.reason);
    if (const auto& to = growth.projection; to && (to->round || to->minute)) {
      text += fmt::format("  It reaches the memory limit of {} in {} {:.0f}",
                          format_bytes(to->limit_bytes), to->round ? "round" : "minute",
                          to->round ? *to->round : *to->minute);
      if (to->ci_low && to->ci_high) {
        text += fmt::format(" (between {:.0f} and {:.0f})", *to->ci_low, *to->ci_high);
      }
      text += ".\n";
    }
  }
  return text;
}

/// Which of a variant's peaks are samples.
std::string describe_sampled(const Results& results, const std::string& variant,
                             const std::string& role, const std::string& metric) {
  if (metric != kPeakRss && metric != kPeakRssNoFiles && metric != kPeakRssAboveIdle) return {};
  std::size_t trials = 0;
  std::size_t sampled = 0;
  for (const TrialData& trial : results.trials) {
    if (trial.arm != variant || !trial.counts()) continue;
    ++trials;
    const bool is_sampled = std::ranges::any_of(trial.roles, [&](const RoleData& one) {
      return is_about(results.job, role, one.role) && one.peak_rss_is_sampled;
    });
    if (is_sampled) ++sampled;
  }
  if (sampled == 0) return {};
  return fmt::format(
      "  In {} of {} of {}, the peak was sampled, so the true peak may be higher: the kernel keeps "
      "no peak\n"
      "  for a sum of processes, and reports the peak of one process only to its parent.\n",
      sampled, format_count(trials, "trial"), variant);
}

std::string explain_row(const Results& results, const Comparison& row) {
  const Observations observations =
      observe(results.trials, results.job, {row.baseline, row.candidate}, results.warmup_rounds);
  const std::vector<double> a = decisive_values(results, observations.arms[0], row);
  const std::vector<double> b = decisive_values(results, observations.arms[1], row);
  std::string text =
      fmt::format("{}: {} vs. {} (baseline)\n", row_name(row), row.candidate, row.baseline);
  text += describe_gates(results, row.candidate, row_name(row));
  text += fmt::format("Verdict: {}{}{}\n  {}\n", to_name(row.verdict),
                      row.tier == Tier::strong ? ", strong" : "",
                      row.is_asked() ? "" : " (not covered by a gate)", row.reason);
  text += fmt::format("Data: {} of {}, {} of {}\n", format_count(row.n_baseline, "trial"),
                      row.baseline, row.n_candidate, row.candidate);
  text += describe_arm(results, row, row.baseline, a, row.baseline_median, row.n_baseline);
  text += describe_arm(results, row, row.candidate, b, row.candidate_median, row.n_candidate);
  for (const std::string& variant : {row.baseline, row.candidate})
    text += describe_sampled(results, variant, row.role, row.metric);
  text += describe_effect_of(row, growth_row(results, row.candidate, row) != nullptr);
  text += describe_test(row);
  text += describe_tail(row, b);
  text += describe_growth(results, row);
  return text;
}

/// A metric that is compared with nothing: of a run of one variant, or of one that the others lack.
std::string explain_alone(const Results& results, const std::string& role,
                          const std::string& metric) {
  const std::string role_metric = role + "." + metric;
  std::string text;
  for (const ArmSummary& arm : results.arms) {
    const Observations seen =
        observe(results.trials, results.job, {arm.name}, results.warmup_rounds);
    Comparison row;
    row.candidate = row.baseline = arm.name;
    row.role = role;
    row.metric = metric;
    const std::vector<double> values = decisive_values(results, seen.arms.front(), row);
    if (values.empty() && growth_row(results, arm.name, row) == nullptr) continue;
    text += fmt::format("{}: {} only, not compared\n", role_metric, arm.name);
    text += describe_gates(results, arm.name, role_metric);
    if (!values.empty()) {
      text += fmt::format("Data: {}, in trial order:", format_count(values.size(), "trial"));
      for (const double value : values) text += " " + format_metric(metric, value) + ",";
      text.back() = '\n';
      text += describe_sampled(results, arm.name, role, metric);
    }
    text += describe_growth(results, row);
  }
  return text;
}

}  // namespace

std::string explain(const Results& results, std::string_view named) {
  std::string text;
  std::vector<std::string> names;
  const auto [role, metric] = role_metric_named(named);
  const std::string role_metric = role + "." + metric;
  for (const Comparison& row : results.comparisons) {
    names.push_back(row_name(row));
    if (names.back() != role_metric) continue;
    if (!text.empty()) text += "\n";
    text += explain_row(results, row);
  }
  if (text.empty()) text = explain_alone(results, role, metric);
  if (text.empty()) {
    throw Error(ExitCode::usage, fmt::format("found no row '{}' in these results", role_metric), "",
                nearest_advice(current_gate(role_metric), names,
                               "write [ROLE.]METRIC, for example peak_rss"));
  }
  return text;
}

std::string worst_row(const Results& results) {
  constexpr std::array kWorstFirst = {Verdict::regressed, Verdict::inconclusive, Verdict::changed,
                                      Verdict::unchanged, Verdict::improved};
  const auto change = [](const Comparison& row) {
    return row.ratio ? *row.ratio - 1 : row.difference.value_or(0);
  };
  const auto is_worse = [&](const Comparison& a, const Comparison& b) {
    const auto rank = [&](const Comparison& row) {
      return std::ranges::find(kWorstFirst, row.verdict);
    };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return change(a) - a.margin > change(b) - b.margin;
  };
  const auto failed = std::ranges::find_if(results.gates, [](const GateResult& gate) {
    return gate.exit_code != 0 && gate.role != "*";
  });
  if (failed != results.gates.end()) return failed->role + "." + failed->metric;
  const Comparison* worst = nullptr;
  for (const Comparison& row : results.comparisons)
    if (row.is_asked() && (worst == nullptr || is_worse(row, *worst))) worst = &row;
  if (worst == nullptr)
    throw Error(ExitCode::usage, "no gate covers a row of this run", {},
                "name a row: memduel explain DIR ROLE.METRIC");
  return worst->role + "." + worst->metric;
}

}  // namespace memduel
