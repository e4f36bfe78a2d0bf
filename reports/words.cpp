#include "words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "model/metric_catalogue.h"
#include "util/text.h"

namespace memduel {
namespace {

std::string blocks(const Comparison& c) {
  return format_count(std::min(c.n_baseline, c.n_candidate), "block");
}

/// "+3.4%", "843 times".
std::string signed_percent(double ratio) {
  if (ratio >= kTimes) return format_multiple(ratio) + " times";
  const double share = ratio - 1;
  return (share < 0 ? "−" : "+") + format_percent(std::abs(share));
}

/// Of an interval whose ends read alike with as many digits as anybody writes.
constexpr const char* kNarrow = "±<0.01%";

/// "38–43", with as many digits as it takes to tell the two ends apart; empty where it takes more
/// than two.
std::string unlike_percents(double a, double b) {
  const std::string from = format_percent(a);
  const std::string to = format_percent(b);
  if (from != to) return fmt::format("{}–{}", from.substr(0, from.size() - 1), to);
  for (const int digits : {1, 2}) {
    const std::string short_from = fmt::format("{:.{}f}", a * 100, digits);
    const std::string short_to = fmt::format("{:.{}f}", b * 100, digits);
    if (short_from != short_to) return fmt::format("{}–{}%", short_from, short_to);
  }
  return {};
}

/// "38–43%" where the sentence says MORE or LESS and both ends lie on that side, else "−3% to
/// +2%".
std::string ratio_interval(double low, double high, bool says_side) {
  if (says_side && (high < 1 || low > 1)) {
    const double a = std::min(std::abs(low - 1), std::abs(high - 1));
    const double b = std::max(std::abs(low - 1), std::abs(high - 1));
    const std::string apart = unlike_percents(a, b);
    return apart.empty() ? kNarrow : apart;
  }
  const std::string from = signed_percent(low);
  const std::string to = signed_percent(high);
  return from == to ? fmt::format("{} {}", from, kNarrow) : from + " to " + to;
}

/// So large that it is told as "843 TIMES AS MUCH".
bool is_multiple(const Comparison& c) {
  return c.ratio && *c.ratio >= kTimes;
}

/// "840–845 times", with more digits where both ends would read alike.
std::string multiple_interval(double low, double high) {
  std::string from = format_multiple(low);
  std::string to = format_multiple(high);
  if (from == to) {
    from = fmt::format("{:.2f}", low);
    to = fmt::format("{:.2f}", high);
  }
  return from == to ? "±<0.01 times" : fmt::format("{}–{} times", from, to);
}

bool is_told(const Comparison& c) {
  return c.is_change();
}

std::string interval_words(const Comparison& c, bool says_side) {
  if (!c.ci_low || !c.ci_high) return {};
  const double none = c.ratio ? 1 : 0;
  if (c.exact && (c.verdict != Verdict::unchanged || *c.ci_low == none)) return "exactly, ";
  if (is_multiple(c) && says_side) return multiple_interval(*c.ci_low, *c.ci_high) + ", ";
  return (c.ratio ? ratio_interval(*c.ci_low, *c.ci_high, says_side)
                  : format_interval(signed_metric(c.metric, *c.ci_low),
                                    signed_metric(c.metric, *c.ci_high))) +
         ", ";
}

/// Both medians, in the unit of the second where they share it; empty where one is missing.
std::string medians_words(const Comparison& c) {
  if (!c.baseline_median || !c.candidate_median) return {};
  std::string from = format_metric(c.metric, c.baseline_median);
  const std::string to = format_metric(c.metric, c.candidate_median);
  const std::size_t unit = from.find(' ');
  if (unit != std::string::npos &&
      from.substr(unit) == to.substr(std::min(to.find(' '), to.size())))
    from.resize(unit);
  return with_minus(fmt::format("{} → {}, ", from, to));
}

std::string margin_words(const Comparison& c) {
  if (!c.ratio) return format_metric(c.metric, c.margin);
  return c.margin < 1 ? format_percent(c.margin)
                      : format_size(c.metric, c.margin, c.baseline_median);
}

std::string limit_words(const Projection& to) {
  return fmt::format("meets the {} limit", format_bytes(to.limit_bytes));
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

/// "original adds 0.78 GiB a round (…) and meets the 24.0 GiB limit in round 31 (30–33), 12 min 05
/// s after the first began". The reason of a growth begins with its verb.
void add_growth(Sentence& sentence, const Growth& g) {
  sentence.add(g.arm + (g.verdict == GrowthVerdict::inconclusive ? ": " : " ") + g.reason);
  if (!g.projection) return;
  sentence.add(" and " + limit_words(*g.projection));
  const std::string when = when_words(*g.projection);
  if (!when.empty()) sentence.add(" ").add(when, Mark::strong);
  sentence.add(interval_and_time(*g.projection));
}

/// "line 3: “sum 45.0” in place of “sum 45”"
std::string line_words(const LineDifference& line) {
  const auto quoted = [](const std::string& text) {
    return text.empty() ? std::string("nothing") : fmt::format("“{}”", text);
  };
  return fmt::format("line {}: {} in place of {}", line.line, quoted(line.candidate),
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

/// "; about 7 blocks would settle it"
void add_blocks_needed(Sentence& sentence, const Comparison& c) {
  if (c.blocks_needed)
    sentence.add(fmt::format("; about {} would settle it",
                             format_count(static_cast<std::size_t>(*c.blocks_needed), "block")));
}

}  // namespace

std::string role_words(const JobFacts& job, const std::string& role) {
  if (const auto group = group_role(job, role))
    return (group->is_median ? "median-" : "largest-") + group->group->name;
  if (role == kTree) return "whole-job";
  return role;
}

std::string change_words(const Comparison& c) {
  if (is_multiple(c)) return format_multiple(*c.ratio) + " TIMES AS MUCH";
  if (c.ratio) return format_percent(std::abs(*c.ratio - 1)) + (*c.ratio < 1 ? " LESS" : " MORE");
  return format_metric(c.metric, std::abs(*c.difference)) + (*c.difference < 0 ? " LESS" : " MORE");
}

std::string projection_words(const Projection& to) {
  const std::string when = when_words(to);
  return limit_words(to) + (when.empty() ? "" : " " + when) + interval_and_time(to);
}

std::string signed_metric(const std::string& metric, double value) {
  return (value < 0 ? "−" : "+") + format_metric(metric, std::abs(value));
}

std::string decided_words(const Comparison& c) {
  if (is_told(c) && (c.ratio || c.difference)) return change_words(c);
  return c.verdict == Verdict::unchanged ? "the SAME" : "not decided";
}

std::string short_effect(const Comparison& c) {
  return fmt::format("{} ({}{}{})", decided_words(c), medians_words(c),
                     interval_words(c, is_told(c)), blocks(c));
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

std::string quantity(const JobFacts& job, const std::string& role, const std::string& metric) {
  if (metric == kRoundSeconds && job.is_one_round) return role_words(job, role) + " time";
  const MetricInfo info = metric_info(metric);
  return role_words(job, role) + " " + (info.display.empty() ? metric : std::string(info.display));
}

std::string change_in_words(const JobFacts& job, const Comparison& c) {
  std::string medians = medians_words(c);
  if (!medians.empty()) medians = " (" + medians.substr(0, medians.size() - 2) + ")";
  const bool settled = c.verdict != Verdict::inconclusive;
  return fmt::format("{} {}{}{}", quantity(job, c.role, c.metric), change_words(c), medians,
                     settled ? "" : ", inconclusive");
}

Sentence effect_sentence(const JobFacts& job, const Comparison& c) {
  const std::string what = quantity(job, c.role, c.metric);
  const std::string verb = "has";
  const std::string evidence =
      medians_words(c) + interval_words(c, c.verdict != Verdict::unchanged) + blocks(c);
  const std::string verdict(to_name(c.verdict));
  const bool has_effect = c.ratio.has_value() || c.difference.has_value();
  Sentence sentence(c.candidate);
  if (c.is_of_dead()) return sentence.add(": " + c.reason + ": ").add(verdict, Mark::verdict);
  const double none = c.ratio ? 1 : 0;
  const bool one_sided =
      has_effect && c.ci_low && c.ci_high && (*c.ci_low > none || *c.ci_high < none);
  const bool settled = c.verdict != Verdict::inconclusive;
  if (!has_effect || (!settled && !one_sided)) {
    Sentence untold("Cannot tell whether " + c.candidate + " " + verb + " ");
    untold.add("MORE", Mark::strong).add(" or ").add("LESS", Mark::strong);
    untold.add(fmt::format(" {} than {} ({}): ", what, c.baseline, evidence));
    untold.add(verdict, Mark::verdict);
    add_blocks_needed(untold, c);
    return untold;
  }
  if (c.verdict == Verdict::unchanged)
    return sentence.add(" " + verb + " the ")
        .add("SAME", Mark::strong)
        .add(fmt::format(" {} as {} ({}, inside the margin of ±{}): ", what, c.baseline, evidence,
                         margin_words(c)))
        .add(verdict, Mark::verdict);
  sentence.add(" " + verb + " ")
      .add(change_words(c), Mark::strong)
      .add(fmt::format(" {} {} {} ({}){}: ", what, is_multiple(c) ? "as" : "than", c.baseline,
                       evidence, settled ? "" : ", but whether that counts is not settled"))
      .add(verdict, Mark::verdict);
  if (!settled) add_blocks_needed(sentence, c);
  return sentence;
}

Sentence growth_sentence(const JobFacts& job, const std::vector<const Growth*>& arms) {
  const char* unit = arms.at(0)->metric.ends_with("_per_minute") ? "minute" : "round";
  Sentence sentence(
      fmt::format("{} memory from {} to {}: ", role_words(job, arms[0]->role), unit, unit));
  // One reason that all arms share is said once.
  const bool same =
      arms.size() > 1 && std::ranges::all_of(arms, [&](const Growth* g) {
        return g->verdict == GrowthVerdict::inconclusive && g->reason == arms[0]->reason;
      });
  if (same) return sentence.add(arms[0]->reason);
  // Slopes that may as well be none say nothing; they are in the table.
  const bool untold = arms.size() > 1 && std::ranges::all_of(arms, [](const Growth* g) {
                        return g->verdict == GrowthVerdict::inconclusive && g->rounds_needed &&
                               g->ci_low.value_or(0) <= 0;
                      });
  if (untold) {
    const auto* most = *std::ranges::max_element(
        arms, {}, [](const Growth* g) { return g->rounds_needed.value_or(0); });
    return sentence.add(fmt::format("cannot tell yet whether it grows; {} would",
                                    format_count(*most->rounds_needed, unit)));
  }
  for (const Growth* g : arms) {
    if (g != arms[0]) sentence.add("; ");
    add_growth(sentence, *g);
  }
  return sentence;
}

std::string slope_sentence(const JobFacts& job, const Growth& g) {
  const double slope = g.slope.value_or(0);
  return fmt::format("{}: {} memory {} by {} per {} after warm-up; a verdict needs several runs",
                     g.arm, role_words(job, g.role), slope < 0 ? "falls" : "rises",
                     format_bytes(std::abs(slope)),
                     g.metric.ends_with("_per_minute") ? "minute" : "round");
}

std::string file_sentence(const Equivalence& e, const FileEquivalence& file) {
  if (file.variation && !file.max_difference) return varying_sentence(e, file, *file.variation);
  const std::string blocks = format_count(file.blocks, "block");
  if (file.identical_blocks == file.blocks)
    return fmt::format("{} is byte by byte the same with {} and {}, in {}.", file.file, e.candidate,
                       e.baseline, blocks);
  std::string text = fmt::format("{} differs between {} and {} in {} of {}", file.file, e.candidate,
                                 e.baseline, file.blocks - file.identical_blocks, blocks);
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
    parts.push_back(files.empty() ? fmt::format("{} never ran under {}", arm.name, *arm.allocator)
                                  : fmt::format("{} ran under {} ({})", arm.name, *arm.allocator,
                                                fmt::join(files, ", ")));
  }
  if (parts.empty()) return {};
  return fmt::format("Allocators, seen inside the processes: {}.", fmt::join(parts, ", "));
}

std::string model_sentence(const Equivalence& e) {
  if (!e.files.empty()) return {};
  if (e.bit_identical.value_or(false))
    return fmt::format("The final models of {} and {} are bit-identical.", e.candidate, e.baseline);
  if (e.max_abs_diff)
    return fmt::format("The final models of {} and {} differ by at most {:.3g} in any element.",
                       e.candidate, e.baseline, *e.max_abs_diff);
  if (e.bit_identical)
    return fmt::format("The final models of {} and {} differ; by how much is not known.",
                       e.candidate, e.baseline);
  return {};
}

bool is_told_by_no_gate(const Results& results) {
  return !results.overall.nothing.empty() && results.overall.exit_code != 0 &&
         std::ranges::none_of(results.gates,
                              [](const GateResult& gate) { return gate.exit_code != 0; });
}

}  // namespace memduel
