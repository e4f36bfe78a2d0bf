#include "words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "model/metric_catalogue.h"
#include "util/text.h"

namespace memduel {
namespace {

constexpr std::string_view kNone = "–";
constexpr std::string_view kExact = "same each trial";

/// "+3.4%" with so many decimals.
std::string signed_percent(double share, int decimals) {
  const std::string text = fmt::format("{:.{}f}%", 100 * std::abs(share), decimals);
  const bool is_zero = text.find_first_not_of("0.%") == std::string::npos;
  return (is_zero ? "" : share < 0 ? "−" : "+") + text;
}

/// Whether one decimal shows a share as nothing, or what it leaves as nothing.
bool needs_two_decimals(double share) {
  constexpr double kLeastShown = 0.0005;
  const bool is_almost_all = share > -1 && share <= -1 + kLeastShown;
  return is_almost_all || (share != 0 && std::abs(share) < kLeastShown);
}

/// One, so that the numbers of a column have the same digits.
int decimals_of(double share) {
  return needs_two_decimals(share) ? 2 : 1;
}

/// A ratio as a change, or as a factor, with so many decimals.
std::string end_text(double ratio, int decimals) {
  if (is_factor(ratio)) return fmt::format("{:.{}f}×", ratio, decimals);
  return ratio == 1 ? "0%" : signed_percent(ratio - 1, decimals);
}

/// Of both ends of a row's interval and of its change: two where the ends would read alike.
int decimals_of_row(const Comparison& row) {
  const bool are_alike = end_text(*row.ci_low, 1) == end_text(*row.ci_high, 1);
  const bool is_small =
      std::ranges::any_of(std::array{*row.ci_low, *row.ci_high, row.ratio.value_or(1)},
                          [](double ratio) { return needs_two_decimals(ratio - 1); });
  return are_alike || is_small ? 2 : 1;
}

/// "−3.0 to +110%", "2.1× to 2.9×": both ends in one unit.
std::string ratio_interval(const Comparison& row) {
  const int decimals = decimals_of_row(row);
  std::string from = end_text(*row.ci_low, decimals);
  std::string to = end_text(*row.ci_high, decimals);
  if (!is_factor(*row.ci_low) && is_factor(*row.ci_high))
    to = signed_percent(*row.ci_high - 1, decimals);
  if (from.ends_with('%') && to.ends_with('%')) from.pop_back();
  return from + " to " + to;
}

/// A change on the row's scale: "−83%", "+1.2 MiB".
std::string change_words(const Comparison& row, double change) {
  if (!row.ratio) return (change < 0 ? "−" : "+") + value_text(row.metric, std::abs(change));
  const bool has_ends = row.ci_low && row.ci_high && !row.exact;
  return has_ends ? end_text(change, decimals_of_row(row)) : ratio_text(change);
}

/// Of the medians that tables show: a ratio if the row has one, else a difference.
std::optional<double> change_shown_by_medians(const Comparison& row) {
  if (!row.ratio) return change_of_medians(row);
  if (!row.baseline_median || !row.candidate_median || *row.baseline_median <= 0)
    return std::nullopt;
  return *row.candidate_median / *row.baseline_median;
}

std::string trials_each(const Comparison& row) {
  return row.n_baseline == row.n_candidate
             ? fmt::format("{} each",
                           format_count(static_cast<std::size_t>(row.n_baseline), "trial"))
             : fmt::format("{} and {} trials", row.n_baseline, row.n_candidate);
}

std::string limit_words(const Projection& to) {
  return fmt::format("reaches the memory limit of {}", format_bytes(to.limit_bytes));
}

/// "in round 31"; empty where it is in none.
std::string when_words(const Projection& to) {
  if (to.round) return fmt::format("in round {:.0f}", *to.round);
  return to.minute ? fmt::format("in minute {:.0f}", *to.minute) : "";
}

/// " (30–33), 12 min 05 s after the first began".
std::string interval_and_time(const Projection& to) {
  constexpr double kSecondsPerMinute = 60;
  std::string text = to.ci_low && to.ci_high && !when_words(to).empty()
                         ? fmt::format(" ({:.0f}–{:.0f})", *to.ci_low, *to.ci_high)
                         : "";
  if (to.round && to.minute)
    text += ", " + format_seconds(*to.minute * kSecondsPerMinute) + " after the first began";
  return text;
}

/// "line 3: “sum 45.0” instead of “sum 45”"
std::string line_words(const LineDifference& line) {
  const auto quoted = [](const std::string& text) {
    return text.empty() ? std::string("nothing") : fmt::format("“{}”", text);
  };
  return fmt::format("line {}: {} instead of {}", line.line, quoted(line.candidate),
                     quoted(line.baseline));
}

/// " (line 3)", " (lines 3, 7, 9 and 4 more)"; empty where no line is known.
std::string varying_words(const Variation& variation) {
  const std::vector<int>& named = variation.first_varying;
  if (named.empty()) return {};
  const int more = variation.varying_lines - static_cast<int>(named.size());
  return fmt::format(" (line{} {}{})", variation.varying_lines == 1 ? "" : "s",
                     fmt::join(named, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

/// Of a file that the trials of one arm leave differently.
std::string varying_sentence(const Equivalence& e, const FileEquivalence& file,
                             const Variation& variation) {
  std::string text =
      fmt::format("{} varies between trials of the same variant{}, so it cannot be compared",
                  file.file, varying_words(variation));
  const int other = variation.lines - variation.varying_lines;
  if (other == 0) return text + ".";
  const std::string lines = other == 1 ? "other line" : fmt::format("other {} lines", other);
  if (variation.differing_lines == 0)
    return text + fmt::format("; its {} {} identical with {} and {}.", lines,
                              other == 1 ? "is" : "are", e.candidate, e.baseline);
  text += other == 1 ? fmt::format("; its {} differs", lines)
                     : fmt::format("; of its {}, {} differ{}", lines, variation.differing_lines,
                                   variation.differing_lines == 1 ? "s" : "");
  return text + (file.first_difference
                     ? fmt::format(", first in {}.", line_words(*file.first_difference))
                     : ".");
}

}  // namespace

bool is_factor(double ratio) {
  return ratio >= kTimes * (1 - 1e-9);  // a ratio of logarithms may miss the border by a rounding
}

bool is_only_role(const JobFacts& job, const std::string& role) {
  return job.groups.empty() && job.roles.size() <= 1 &&
         (role == kTree || job.roles.empty() || role == job.roles.front());
}

std::string metric_words(const JobFacts& job, const std::string& metric) {
  if (metric == kRoundSeconds && job.is_one_round) return "wall time";
  const MetricInfo info = metric_info(metric);
  if (info.display.empty()) return metric;
  constexpr std::string_view kRoundEnd = "at round end";
  std::string words(info.display);
  if (job.is_one_round && words.ends_with(kRoundEnd))
    words.replace(words.size() - kRoundEnd.size(), kRoundEnd.size(), "at the end");
  return words;
}

std::string quantity(const JobFacts& job, const std::string& role, const std::string& metric) {
  const std::string words = metric_words(job, metric);
  return is_only_role(job, role) ? words : role_words(job, role) + " " + words;
}

std::string value_text(const std::string& metric, std::optional<double> value) {
  if (!value) return std::string(kNone);
  const std::string text = format_metric(metric, value);
  return with_minus(text.substr(0, text.find('/')));
}

std::string value_text_like(const std::string& metric, std::optional<double> value,
                            double reference) {
  if (!value) return std::string(kNone);
  return with_minus(format_metric_like(metric, *value, reference));
}

std::string exact_text(const std::string& metric, std::optional<double> value) {
  if (!value) return {};
  if (metric_info(metric).unit != Unit::bytes) return with_minus(fmt::format("{}", *value));
  std::string digits = fmt::format("{:.0f}", std::abs(*value));
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return (*value < 0 ? "−" : "") + digits + " bytes";
}

std::string signed_metric(const std::string& metric, double value) {
  return (value < 0 ? "−" : "+") + format_metric(metric, std::abs(value));
}

std::string ratio_text(double ratio) {
  return end_text(ratio, decimals_of(ratio - 1));
}

std::string limit_text(const GateResult& gate) {
  if (!gate.evidence.limit) return {};
  const double limit = *gate.evidence.limit;
  switch (gate.evidence.quantity) {
    case GateQuantity::ratio: {
      if (is_factor(limit)) return ratio_text(limit);
      return fmt::format("{}{:.4g}%", limit < 1 ? "−" : "+", 100 * std::abs(limit - 1));
    }
    case GateQuantity::difference:
      return signed_metric(gate.metric, limit);
    case GateQuantity::value:
      break;
  }
  return value_text(gate.metric, limit);
}

bool is_change_of_medians(const Comparison& row) {
  const std::optional<double> medians = change_shown_by_medians(row);
  if (!medians || !row.ci_low || !row.ci_high) return true;
  const double nearest = std::clamp(*medians, *row.ci_low, *row.ci_high);
  return change_words(row, nearest) == change_words(row, *medians);
}

std::optional<double> shown_change(const Comparison& row) {
  const std::optional<double>& estimate = row.ratio ? row.ratio : row.difference;
  const std::optional<double> medians = change_shown_by_medians(row);
  return estimate && medians && is_change_of_medians(row) ? medians : estimate;
}

std::string change_text(const Comparison& row) {
  const std::optional<double> change = shown_change(row);
  return change ? change_words(row, *change) : std::string(kNone);
}

double overall_confidence(const Comparison& row) {
  constexpr double kOverall = 0.95;
  constexpr double kOfEquivalence = 0.9;
  if (row.confidence < kOverall - 1e-9) return row.confidence;
  return row.verdict == Verdict::unchanged && row.confidence > kOverall + 1e-9 ? kOfEquivalence
                                                                               : kOverall;
}

std::string interval_text(const Comparison& row) {
  if (!row.ci_low || !row.ci_high) return std::string(kNone);
  if (row.exact) return std::string(kExact);
  constexpr double kUsual = 0.95;
  const double confidence = overall_confidence(row);
  const std::string level =
      std::abs(confidence - kUsual) < 1e-9 ? "" : fmt::format(" ({:.3g}%)", 100 * confidence);
  if (row.ratio) return ratio_interval(row) + level;
  const auto end = [&](double value) {
    return (value < 0 ? "−" : "+") + value_text(row.metric, std::abs(value));
  };
  return format_interval(end(*row.ci_low), end(*row.ci_high)) + level;
}

std::string medians_text(const Comparison& row) {
  if (!row.baseline_median || !row.candidate_median) return {};
  return values_text(value_text(row.metric, row.baseline_median),
                     value_text(row.metric, row.candidate_median));
}

std::string values_text(std::string from, const std::string& to) {
  const std::size_t unit = from.find(' ');
  if (unit != std::string::npos &&
      from.substr(unit) == to.substr(std::min(to.find(' '), to.size())))
    from.resize(unit);
  return fmt::format("{} → {}", from, to);
}

std::string capitalized(std::string text) {
  if (!text.empty())
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

std::string effect_text(const JobFacts& job, const Comparison& row) {
  std::string evidence = medians_text(row);
  const std::string interval = interval_text(row);
  if (row.exact)
    evidence += (evidence.empty() ? "" : ", ") + std::string("identical in all trials");
  else if (interval != kNone)
    evidence += (evidence.empty() ? "" : ", ") +
                (interval.ends_with(')') ? "CI " + interval : "95% CI " + interval);
  return fmt::format("{}: {} ({}{}{})", quantity(job, row.role, row.metric), change_text(row),
                     evidence, evidence.empty() ? "" : ", ", trials_each(row));
}

std::string amount_words(const Comparison& row) {
  const bool is_count = metric_info(row.metric).unit == Unit::count;
  const std::optional<double> change = shown_change(row);
  if (!change) return "an unknown amount";
  const char* direction = *change > (row.ratio ? 1 : 0) ? "more" : is_count ? "fewer" : "less";
  if (!row.ratio) return value_text(row.metric, std::abs(*change)) + " " + direction;
  if (is_factor(*change))
    return fmt::format("{} as {}", ratio_text(*change), is_count ? "many" : "much");
  const std::string text = change_words(row, *change);
  if (text.find_first_of("123456789") == std::string::npos) return "as much";
  return text.substr(text.starts_with('+') ? 1 : std::string_view("−").size()) + " " + direction;
}

bool is_some_change(const Comparison& row) {
  return row.ratio && row.ci_low && row.ci_high && (*row.ci_low > 1 || *row.ci_high < 1);
}

std::string amount_of_interval(const Comparison& row) {
  if (!row.ratio || !row.ci_low || !row.ci_high || row.exact) return {};
  const bool is_count = metric_info(row.metric).unit == Unit::count;
  const auto factor = [](double ratio) { return fmt::format("{:.{}f}×", ratio, 1); };
  if (is_factor(*row.ci_low) || is_factor(*row.ci_high))
    return fmt::format("{} to {} as {}", factor(*row.ci_low), factor(*row.ci_high),
                       is_count ? "many" : "much");
  const int decimals = decimals_of_row(row);
  const auto size = [&](double ratio) {
    return fmt::format("{:.{}f}", 100 * std::abs(ratio - 1), decimals);
  };
  const std::string low = size(*row.ci_low);
  const std::string high = size(*row.ci_high);
  const char* less = is_count ? "fewer" : "less";
  if (*row.ci_low < 1 && *row.ci_high > 1)
    return fmt::format("between {}% {} and {}% more", low, less, high);
  return *row.ci_low >= 1 ? fmt::format("{} to {}% more", low, high)
                          : fmt::format("{} to {}% {}", high, low, less);
}

Tone tone_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::improved:
      return Tone::good;
    case Verdict::regressed:
      return Tone::bad;
    case Verdict::changed:
      return Tone::strong;
    case Verdict::unchanged:
    case Verdict::inconclusive:
      break;
  }
  return Tone::muted;
}

std::string with_minus(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool number = text[i] == '-' && i + 1 < text.size() && digit(text[i + 1]);
    const bool begins = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(';
    out += number && begins ? std::string_view("−") : text.substr(i, 1);
  }
  return out;
}

std::string projection_words(const Projection& to) {
  const std::string when = when_words(to);
  return limit_words(to) + (when.empty() ? "" : " " + when) + interval_and_time(to);
}

std::string file_sentence(const Equivalence& e, const FileEquivalence& file) {
  if (file.variation && !file.max_difference) return varying_sentence(e, file, *file.variation);
  const std::string trials = format_count(static_cast<std::size_t>(file.blocks), "trial");
  if (file.identical_blocks == file.blocks)
    return fmt::format("{} is byte-identical with {} and {}{}.", file.file, e.candidate, e.baseline,
                       file.blocks == 1 ? " in the only trial" : " in all " + trials);
  std::string text = fmt::format("{} differs between {} and {} in {} of {}", file.file, e.candidate,
                                 e.baseline, file.blocks - file.identical_blocks, trials);
  if (file.first_difference) text += ", first in " + line_words(*file.first_difference);
  if (!file.max_difference) return text + ".";
  text += fmt::format(", by at most {:.3g}", *file.max_difference);
  if (file.max_within_baseline)
    text += fmt::format("; trials of {} differ from each other by at most {:.3g}", e.baseline,
                        *file.max_within_baseline);
  return text + ".";
}

std::string allocator_sentence(const std::vector<ArmSummary>& arms) {
  std::vector<std::string> parts;
  for (const ArmSummary& arm : arms) {
    if (!arm.allocator || arm.ablation) continue;
    std::vector<std::string> files;
    for (const std::string& library : arm.allocator_libraries)
      files.push_back(library.substr(library.rfind('/') + 1));
    parts.push_back(files.empty() ? fmt::format("{} never used {}", arm.name, *arm.allocator)
                                  : fmt::format("{} used {} ({})", arm.name, *arm.allocator,
                                                fmt::join(files, ", ")));
  }
  if (parts.empty()) return {};
  return fmt::format("Allocators found in the processes: {}.", fmt::join(parts, ", "));
}

std::string model_sentence(const Equivalence& e) {
  if (!e.files.empty()) return {};
  if (e.bit_identical.value_or(false))
    return fmt::format("The final models of {} and {} are bit-identical.", e.candidate, e.baseline);
  if (e.max_abs_diff)
    return fmt::format("The final models of {} and {} differ by at most {:.3g} in any element.",
                       e.candidate, e.baseline, *e.max_abs_diff);
  if (e.bit_identical)
    return fmt::format("The final models of {} and {} differ by an unknown amount.", e.candidate,
                       e.baseline);
  return {};
}

bool is_told_by_no_gate(const Results& results) {
  return !results.overall.nothing.empty() && results.overall.exit_code != 0 &&
         std::ranges::none_of(results.gates,
                              [](const GateResult& gate) { return gate.exit_code != 0; });
}

std::string join_with_and(const std::vector<std::string>& parts) {
  if (parts.size() < 2) return parts.empty() ? "" : parts.front();
  return fmt::format("{} and {}", fmt::join(parts.begin(), parts.end() - 1, ", "), parts.back());
}

std::string with_spaces(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::vector<const ArmSummary*> judged_arms(const Results& results) {
  std::vector<const ArmSummary*> arms;
  for (const ArmSummary& arm : results.arms)
    if (!arm.ablation) arms.push_back(&arm);
  std::ranges::stable_partition(
      arms, [&](const ArmSummary* arm) { return arm->name == results.baseline; });
  return arms;
}

}  // namespace memduel
