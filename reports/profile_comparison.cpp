#include "reports/profile_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "model/metric_catalogue.h"
#include "profile/function_names.h"
#include "reports/memory_tables.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

constexpr const char* kTime = "time_seconds";
constexpr const char* kSampleCount = "sample_count";
constexpr double kNanosecond = 1e-9;

ComparedProfile without_stacks(const Profile& profile, const std::string& file) {
  const TracerFacts facts = facts_of(profile);
  return {file, profile.fact("profiler", facts.tool),
          profile.unit == ProfileUnit::bytes ? counting_of(facts) : to_string(profile.unit),
          profile.notes};
}

/// Of the recorder, which are exact; the one that decides about the process's memory first.
std::vector<ProfileTotal> counter_totals(const HeapTotals& a, const HeapTotals& b) {
  std::vector<ProfileTotal> totals;
  const auto add = [&](const char* metric, std::int64_t HeapTotals::* counter) {
    totals.push_back({metric, static_cast<double>(a.*counter), static_cast<double>(b.*counter)});
  };
  const bool maps = a.mapping_peak_bytes > 0 || b.mapping_peak_bytes > 0;
  if (maps && a.together_peak_bytes > 0 && b.together_peak_bytes > 0)
    add(kPeakHeapAndMapped, &HeapTotals::together_peak_bytes);
  add(kPeakHeap, &HeapTotals::peak_bytes);
  if (maps) add(kPeakMapped, &HeapTotals::mapping_peak_bytes);
  add(kLiveAtEnd, &HeapTotals::live_bytes);
  add(kAllocatedBytes, &HeapTotals::allocated_bytes);
  add(kAllocationCount, &HeapTotals::allocations);
  return totals;
}

std::string metric_of(const ProfileDifference& difference, ProfileUnit unit) {
  if (unit == ProfileUnit::nanoseconds) return kTime;
  if (unit == ProfileUnit::samples) return kSampleCount;
  if (difference.kind == DifferenceKind::live) return kLiveAtEnd;
  if (difference.kind == DifferenceKind::allocated) return kAllocatedBytes;
  if (difference.heap == Heap::both) return kPeakHeapAndMapped;
  return difference.heap == Heap::mapped ? kPeakMapped : kPeakHeap;
}

/// What the stacks add up to.
std::vector<ProfileTotal> stack_totals(const std::vector<ProfileDifference>& differences,
                                       ProfileUnit unit, bool counted) {
  std::vector<ProfileTotal> totals;
  for (const ProfileDifference& one : differences) {
    const double size = unit == ProfileUnit::nanoseconds ? kNanosecond : 1;
    Estimate both = one.baseline;
    both += one.candidate;
    totals.push_back({metric_of(one, unit), size * one.baseline.bytes, size * one.candidate.bytes,
                      size * both.half_width()});
    if (one.kind == DifferenceKind::allocated && counted)
      totals.push_back({kAllocationCount, one.baseline.count, one.candidate.count});
  }
  return totals;
}

struct KindOfStacks {
  DifferenceKind kind;
  Heap heap;
};

/// Heap and mapped memory are one list if both profiles have them at one moment.
std::vector<KindOfStacks> questions_for(const Profile& a, const Profile& b,
                                        const Comparability& both) {
  const auto maps = [](const Profile& profile) {
    return profile.mapping_peak.total.samples > 0 ||
           (profile.counters && profile.counters->mapping_peak_bytes > 0);
  };
  // Another tool may count mapped memory as heap, or not at all.
  const bool mapped = both.one_tool ? maps(a) || maps(b) : maps(a) && maps(b);
  std::vector<KindOfStacks> questions;
  for (const ProfileKind kind : both.kinds) {
    if (kind == ProfileKind::live) questions.push_back({DifferenceKind::live, Heap::malloc});
    if (kind == ProfileKind::allocated)
      questions.push_back({DifferenceKind::allocated, Heap::malloc});
    if (kind != ProfileKind::peak) continue;
    const bool together = !a.together_peak.sites.empty() && !b.together_peak.sites.empty();
    if (!mapped) {
      questions.push_back({DifferenceKind::peak, Heap::malloc});
    } else if (together) {
      questions.push_back({DifferenceKind::peak, Heap::both});
    } else {
      questions.push_back({DifferenceKind::peak, Heap::malloc});
      questions.push_back({DifferenceKind::peak, Heap::mapped});
    }
  }
  return questions;
}

void refuse_damaged(const Profile& profile, const std::string& file) {
  if (!profile.is_recovered) return;
  throw Error(ExitCode::io,
              fmt::format("expected a whole profile, found a damaged one: {}",
                          fmt::join(profile.notes, "; ")),
              file, "memduel summary " + quoted_command_line({file}) + " prints what is left");
}

std::string total_words(const std::string& metric) {
  if (metric == kTime) return "time";
  return metric == kSampleCount ? "samples" : metric_words({}, metric);
}

std::string signed_amount(const std::string& metric, double change, double half_width) {
  constexpr double kLeastDigit = 0.005;  // of three digits
  if (half_width < kLeastDigit * std::abs(change)) half_width = 0;
  if (metric.ends_with("_bytes")) return amount_of({}, change, half_width);
  const std::string text = signed_metric(metric, change);
  return half_width > 0 ? text + " ± " + format_metric(metric, half_width) : text;
}

/// "3.0×", "−12%"; empty without a baseline.
std::string change_ratio(double baseline, double candidate) {
  return baseline > 0 ? ratio_text(candidate / baseline) : std::string();
}

std::string first_line(const ProfileTotal& total) {
  const std::string name = capitalized(total_words(total.metric));
  const std::string candidate = value_text(total.metric, total.candidate);
  if (total.change() == 0) return fmt::format("{}: unchanged ({})\n", name, candidate);
  const std::string ratio = change_ratio(total.baseline, total.candidate);
  return fmt::format("{}: {} ({}{}{})\n", name,
                     signed_amount(total.metric, total.change(), total.half_width),
                     values_text(value_text(total.metric, total.baseline), candidate),
                     ratio.empty() ? "" : ", ", ratio);
}

void add_totals(std::string& text, const ProfileComparison& comparison) {
  text += fmt::format("\n{:<26}{:>11}{:>12}{:>18}\n",
                      comparison.has_counters ? "Counters"
                      : comparison.sampled    ? "Estimates, 95% CI"
                                              : "Totals",
                      "baseline", "candidate", "change");
  for (const ProfileTotal& total : comparison.totals) {
    const bool changed = total.change() != 0;
    std::string change =
        changed ? signed_amount(total.metric, total.change(), total.half_width) : "unchanged";
    // Columns, not bytes: a sign or a ± is several bytes.
    const std::size_t width = count_characters(change);
    if (width < 18) change.insert(0, 18 - width, ' ');
    const std::string ratio = changed ? change_ratio(total.baseline, total.candidate) : "";
    text += fmt::format("  {:<24}{:>11}{:>12}{}{}{}\n", total_words(total.metric),
                        format_metric(total.metric, total.baseline),
                        format_metric(total.metric, total.candidate), change,
                        ratio.empty() ? "" : "  ", ratio);
  }
  if (comparison.has_counters)
    text += fmt::format("  (peaks and live bytes: with malloc's overhead{})\n",
                        comparison.within.empty() ? "" : ", exact within " + comparison.within);
}

/// A stack as text, and what it has.
struct ShownStack {
  std::vector<std::string> lines;
  std::size_t more_frames = 0;  ///< that are not among the lines
  Estimate baseline;
  Estimate candidate;

  [[nodiscard]] double bytes() const { return candidate.bytes - baseline.bytes; }
  [[nodiscard]] double half_width() const {
    Estimate both = baseline;
    both += candidate;
    return both.half_width();
  }
};

/// The callers of the function that a reader knows, innermost first, short.
std::vector<std::string> callers_of(std::vector<std::string> stack) {
  std::vector<std::string> callers;
  while (const auto at = telling_caller_frame(stack)) {
    callers.push_back(short_name(stack[*at]));
    stack.resize(*at + 1);
  }
  return callers;
}

ShownStack with_own_frames(const StackDifference& row, std::size_t frames) {
  ShownStack shown;
  if (row.stack.empty()) return {{"[no stack]"}, 0, row.baseline, row.candidate};
  std::vector<std::string> callers = callers_of(row.stack);
  const std::size_t most = std::max<std::size_t>(frames, 1) - 1;
  if (callers.size() > most) {
    shown.more_frames = callers.size() - most;
    callers.resize(most);
  }
  std::string line = called_from(short_name(row.stack[telling_frame(row.stack)]),
                                 callers.empty() ? "" : callers.front(), row.location);
  if (!row.location.empty()) line += "  " + row.location;
  shown.lines = {line};
  if (callers.size() > 1)
    shown.lines.push_back(
        fmt::format("called from {}", fmt::join(callers.begin() + 1, callers.end(), ", ")));
  return shown;
}

/// That of frames_with_locations() whose file the location has: a Python function's name ends in
/// its file.
std::optional<std::size_t> frame_of_location(const StackDifference& row) {
  const std::string path = row.location.substr(0, row.location.rfind(':'));
  const std::string file = "(" + path.substr(path.rfind('/') + 1) + ")";
  const std::vector<std::size_t> frames = frames_with_locations(row.stack);
  for (const std::size_t frame : frames)
    if (row.stack[frame].ends_with(file)) return frame;
  return frames.empty() ? std::nullopt : std::optional(frames.front());
}

ShownStack with_all_frames(const StackDifference& row, std::size_t frames) {
  ShownStack shown;
  const auto located = frame_of_location(row);
  for (std::size_t i = row.stack.size(); i-- > 0;) {
    if (shown.lines.size() == frames) {
      shown.more_frames = i + 1;
      break;
    }
    shown.lines.push_back(row.stack[i]);
    if (located == i && !row.location.empty()) shown.lines.back() += "  " + row.location;
  }
  return shown;
}

std::vector<ShownStack> shown_stacks_of(const ProfileDifference& difference,
                                        const SummaryOptions& options) {
  std::vector<ShownStack> stacks;
  std::map<std::pair<std::vector<std::string>, std::size_t>, std::size_t> places;
  for (const StackDifference& row : difference.stacks) {
    ShownStack shown = options.all_frames ? with_all_frames(row, options.frames)
                                          : with_own_frames(row, options.frames);
    const auto [place, first] = places.try_emplace({shown.lines, shown.more_frames}, stacks.size());
    if (first) stacks.push_back(std::move(shown));
    stacks[place->second].baseline += row.baseline;
    stacks[place->second].candidate += row.candidate;
  }
  std::erase_if(stacks, [](const ShownStack& stack) { return std::abs(stack.bytes()) < 0.5; });
  std::ranges::stable_sort(stacks, std::ranges::greater(),
                           [](const ShownStack& stack) { return std::abs(stack.bytes()); });
  return stacks;
}

std::string allocations_text(const ShownStack& stack, bool counted) {
  const std::string from = fmt::format("{:.0f}", stack.baseline.count);
  const std::string to = fmt::format("{:.0f}", stack.candidate.count);
  if (!counted || from == to) return {};
  return fmt::format(", {} → {}", from,
                     format_estimated_count(stack.candidate.count, "allocation"));
}

/// What the stacks that are not shown add up to.
std::string rest_text(const std::vector<ShownStack>& stacks, std::size_t shown,
                      const std::string& metric, double size) {
  double more = 0;
  double less = 0;
  for (std::size_t i = shown; i < stacks.size(); ++i)
    (stacks[i].bytes() > 0 ? more : less) += size * stacks[i].bytes();
  std::vector<std::string> sums;
  if (more > 0) sums.push_back(signed_metric(metric, more));
  if (less < 0) sums.push_back(signed_metric(metric, less));
  return fmt::format("      and {}: {}; --stacks N prints more\n",
                     format_count(stacks.size() - shown, "smaller difference"),
                     fmt::join(sums, ", "));
}

void add_difference(std::string& text, const ProfileComparison& comparison,
                    const ProfileDifference& difference, const SummaryOptions& options) {
  const std::string metric = metric_of(difference, comparison.unit);
  const double size = comparison.unit == ProfileUnit::nanoseconds ? kNanosecond : 1;
  const std::vector<ShownStack> stacks = shown_stacks_of(difference, options);
  const std::string name = capitalized(total_words(metric));
  const char* beyond = comparison.sampled ? " by more than the sampling error" : "";
  if (stacks.empty()) {
    text += fmt::format("\n{}: no stack differs{}\n", name, beyond);
    return;
  }
  text += fmt::format("\n{}: {}{}\n", name,
                      format_count(stacks.size(), "stack differs", "stacks differ"), beyond);
  const std::size_t most = std::min(options.stacks, stacks.size());
  for (std::size_t i = 0; i < most; ++i) {
    const ShownStack& stack = stacks[i];
    const std::string ratio = change_ratio(stack.baseline.bytes, stack.candidate.bytes);
    text +=
        fmt::format("{:>4}. {} ({}{}{}){}\n", i + 1,
                    signed_amount(metric, size * stack.bytes(), size * stack.half_width()),
                    values_text(value_text(metric, size * stack.baseline.bytes),
                                value_text(metric, size * stack.candidate.bytes)),
                    ratio.empty() ? "" : ", ", ratio, allocations_text(stack, comparison.counted));
    for (const std::string& line : stack.lines) text += "        " + line + "\n";
    if (stack.more_frames > 0) text += fmt::format("        … {} more\n", stack.more_frames);
  }
  if (stacks.size() > most) text += rest_text(stacks, most, metric, size);
  if (difference.unmatched_share > 0 || difference.guessed_share > 0)
    text += "      " + match_remark(difference.unmatched_share, difference.guessed_share) + "\n";
}

bool nothing_differs(const ProfileComparison& comparison) {
  return std::ranges::all_of(comparison.totals,
                             [](const ProfileTotal& total) { return total.change() == 0; }) &&
         std::ranges::all_of(comparison.differences,
                             [](const ProfileDifference& one) { return one.stacks.empty(); });
}

nlohmann::json json_of(const ComparedProfile& profile) {
  nlohmann::json notes = nlohmann::json::array();
  for (const std::string& note : profile.notes) notes.push_back(valid_utf8(note));
  return {{"file", valid_utf8(profile.file)},
          {"profiler", valid_utf8(profile.profiler)},
          {"counting", profile.counting},
          {"notes", notes}};
}

/// Below half a byte it is what rounding leaves of a block that is larger than the interval.
nlohmann::json half_width_json(double half_width) {
  return half_width >= 0.5 ? nlohmann::json(half_width) : nlohmann::json(nullptr);
}

nlohmann::json json_of(const StackDifference& row, const ProfileDifference& whole, ProfileUnit unit,
                       bool counted) {
  const std::string name = to_string(unit);
  nlohmann::json stack = nlohmann::json::array();
  for (const std::string& function : row.stack) stack.push_back(valid_utf8(function));
  nlohmann::json object{{"kind", to_string(whole.kind)},
                        {"heap", to_name(whole.heap)},
                        {"stack", stack},
                        {name, row.bytes()},
                        {"share", whole.moved > 0 ? std::abs(row.bytes()) / whole.moved : 0},
                        {"baseline_" + name, row.baseline.bytes},
                        {"candidate_" + name, row.candidate.bytes},
                        {"half_width_" + name, half_width_json(row.half_width())}};
  if (counted) object["allocations"] = row.blocks();
  object["phase"] =
      row.phase.empty() ? nlohmann::json(nullptr) : nlohmann::json(valid_utf8(row.phase));
  if (!row.location.empty()) object["location"] = valid_utf8(row.location);
  return object;
}

}  // namespace

ProfileComparison compare_profiles(Profile baseline, Profile candidate,
                                   const std::array<std::string, 2>& files,
                                   const SourceRoots& roots) {
  refuse_damaged(baseline, files[0]);
  refuse_damaged(candidate, files[1]);
  const Comparability both = comparability_of(baseline, candidate, {files[0], files[1]});
  ProfileComparison comparison;
  comparison.baseline = without_stacks(baseline, files[0]);
  comparison.candidate = without_stacks(candidate, files[1]);
  comparison.unit = baseline.unit;
  comparison.sampled = baseline.sampled() || candidate.sampled();
  comparison.warning = both.warning;
  const std::vector<KindOfStacks> questions = questions_for(baseline, candidate, both);
  comparison.counted =
      comparison.unit == ProfileUnit::bytes && baseline.counted && candidate.counted;
  if (baseline.counters && candidate.counters) {
    comparison.has_counters = true;
    for (const Profile* profile : {&baseline, &candidate})
      if (const std::string within = profile->fact("counters_within"); !within.empty())
        comparison.within += (comparison.within.empty() ? "" : " and ") + within;
    comparison.totals = counter_totals(*baseline.counters, *candidate.counters);
  }
  ProfileSide a(1);
  ProfileSide b(1);
  a[0].push_back(std::move(baseline));
  b[0].push_back(std::move(candidate));
  const ComparedSides sides(a, b);
  for (const KindOfStacks& question : questions) {
    ProfileDifference one = sides.difference(question.kind, question.heap, roots);
    if (one.baseline.samples + one.candidate.samples > 0)
      comparison.differences.push_back(std::move(one));
  }
  if (!comparison.has_counters)
    comparison.totals = stack_totals(comparison.differences, comparison.unit, comparison.counted);
  return comparison;
}

std::string comparison_text(const ProfileComparison& comparison, const SummaryOptions& options) {
  std::string text = comparison.totals.empty() ? "" : first_line(comparison.totals.front());
  text += fmt::format("Baseline: {}; candidate: {}\n", comparison.baseline.file,
                      comparison.candidate.file);
  text += "No claim about variation: one profile each. To repeat trials, compare commands.\n";
  if (!comparison.warning.empty()) text += fmt::format("Note: {}\n", comparison.warning);
  add_totals(text, comparison);
  if (nothing_differs(comparison))
    text += fmt::format("\nNothing differs: the totals are equal, and no stack differs{}.\n",
                        comparison.sampled ? " by more than the sampling error" : "");
  else
    for (const ProfileDifference& one : comparison.differences)
      add_difference(text, comparison, one, options);
  for (const ComparedProfile* profile : {&comparison.baseline, &comparison.candidate})
    for (const std::string& note : profile->notes)
      text += fmt::format("\nNote: {}: {}\n", profile->file, note);
  return text;
}

nlohmann::json comparison_json(const ProfileComparison& comparison, std::size_t stacks) {
  nlohmann::json object{
      {"schema", kProfileComparisonSchema},           {"baseline", json_of(comparison.baseline)},
      {"candidate", json_of(comparison.candidate)},   {"unit", to_string(comparison.unit)},
      {"warnings", nlohmann::json::array()},          {"totals", nlohmann::json::array()},
      {"difference_totals", nlohmann::json::array()}, {"differences", nlohmann::json::array()}};
  if (!comparison.warning.empty()) object["warnings"].push_back(valid_utf8(comparison.warning));
  for (const ProfileTotal& total : comparison.totals)
    object["totals"].push_back({{"metric", total.metric},
                                {"baseline", total.baseline},
                                {"candidate", total.candidate},
                                {"change", total.change()},
                                {"half_width", half_width_json(total.half_width)}});
  const std::string unit = to_string(comparison.unit);
  for (const ProfileDifference& one : comparison.differences) {
    object["difference_totals"].push_back({{"kind", to_string(one.kind)},
                                           {"heap", to_name(one.heap)},
                                           {"baseline_" + unit, one.baseline.bytes},
                                           {"candidate_" + unit, one.candidate.bytes},
                                           {"stacks", one.stacks.size()},
                                           {"unmatched_share", one.unmatched_share},
                                           {"guessed_share", one.guessed_share}});
    for (std::size_t i = 0; i < std::min(stacks, one.stacks.size()); ++i)
      object["differences"].push_back(
          json_of(one.stacks[i], one, comparison.unit, comparison.counted));
  }
  return object;
}

}  // namespace memduel
