#include "experiment/marks/text_mark_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/metric_catalogue.h"
#include "base/text.h"

namespace memduel {
namespace {

struct MetricPrefix {
  std::string_view text;
  Direction better;
};
constexpr std::array<MetricPrefix, 3> kMetricPrefixes = {{{"metric_", Direction::undeclared},
                                                          {"higher_", Direction::higher},
                                                          {"lower_", Direction::lower}}};
constexpr std::size_t kLongestPhase = 60;
constexpr const char* kKnownGroups =
    "expected idle, round, phase, metric_NAME, higher_NAME or lower_NAME";

/// Absent for a group that is no metric. Throws Error(usage) for a name that is memduel's.
std::optional<DeclaredDirection> metric_of(const std::string& group) {
  const auto prefix = std::ranges::find_if(kMetricPrefixes, [&](const MetricPrefix& one) {
    return group.starts_with(one.text) && group.size() > one.text.size();
  });
  if (prefix == kMetricPrefixes.end()) return std::nullopt;
  const std::string name = group.substr(prefix->text.size());
  const auto found = fmt::format("found a group named \"{}\", but ", group);
  if (is_measured_of_any_program(name))
    throw Error(ExitCode::usage, fmt::format("{}memduel measures {} itself", found, name), {},
                fmt::format("call it {}logged_{}", prefix->text, name));
  const Direction own = metric_info(name).better;
  if (own != Direction::undeclared && prefix->better != Direction::undeclared &&
      prefix->better != own)
    throw Error(ExitCode::usage, fmt::format("{}{} is better for {}", found, to_name(own), name),
                {},
                fmt::format("call it {}_{}, or give the metric another name", to_name(own), name));
  return DeclaredDirection{name, prefix->better};
}

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Names of phases are words of tables and paths of the report: letters, digits and a few signs.
std::string phase_name(std::string_view text) {
  std::string name(text.substr(0, kLongestPhase));
  for (char& byte : name) {
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') ||
                       std::string_view("_-.+").find(byte) != std::string_view::npos;
    if (!plain) byte = '_';
  }
  return name;
}

}  // namespace

TextMarkPattern::Part TextMarkPattern::part_of(const LogPattern::Group& group) {
  if (group.name == "idle") return {Meaning::idle, {}, group.number};
  if (group.name == "round") return {Meaning::round, {}, group.number};
  if (group.name == "phase") return {Meaning::phase, {}, group.number};
  if (auto metric = metric_of(group.name)) {
    metrics_.push_back(*metric);
    return {Meaning::metric, std::move(metric->metric), group.number};
  }
  const auto nearest = nearest_name(group.name, {"idle", "round", "phase"});
  throw Error(
      ExitCode::usage, fmt::format("found a group named \"{}\", {}", group.name, kKnownGroups), {},
      nearest ? fmt::format("did you mean \"{}\"? a group that marks nothing is (?:…)", *nearest)
              : "a group that marks nothing is (?:…)");
}

TextMarkPattern::TextMarkPattern(const std::string& pattern) : text_(pattern), pattern_(pattern) {
  for (const LogPattern::Group& group : pattern_.named_groups()) parts_.push_back(part_of(group));
  if (parts_.empty() && pattern_.group_count() == 0) {
    throw Error(ExitCode::usage, fmt::format("\"{}\" has no group, {}", pattern, kKnownGroups), {},
                "put the number of the round into a group: Round (?<round>\\d+)");
  }
  if (parts_.empty()) parts_.push_back({Meaning::round, {}, 1});
  names_rounds_ =
      std::ranges::any_of(parts_, [](const Part& part) { return part.meaning == Meaning::round; });
}

void TextMarkPattern::unreadable(std::string_view text) {
  constexpr std::size_t kLongestExample = 40;
  if (values_unreadable++ == 0) unreadable_example = phase_name(text.substr(0, kLongestExample));
}

void TextMarkPattern::take(const Part& part, std::string_view text, LineMarks& marks) {
  switch (part.meaning) {
    case Meaning::idle:
      marks.idle = true;
      break;
    case Meaning::round: {
      const auto round = number_of<int>(text);
      if (!round || *round < 0) return unreadable(text);
      marks.round = round;
      break;
    }
    case Meaning::phase:
      if (!text.empty()) marks.phase = phase_name(text);
      break;
    case Meaning::metric: {
      const auto value = number_of<double>(text);
      if (!value || !std::isfinite(*value)) return unreadable(text);
      marks.metrics.emplace_back(part.metric, *value);
      break;
    }
  }
}

LineMarks TextMarkPattern::read(std::string_view line) {
  LineMarks marks;
  const LogPattern::Match match = pattern_.match(line);
  if (match.outcome == LogPattern::Outcome::gave_up) ++lines_undecided;
  if (match.outcome != LogPattern::Outcome::found) return marks;
  ++lines_matched;
  for (const Part& part : parts_) {
    if (const auto& text = match.groups[part.group]) take(part, *text, marks);
  }
  return marks;
}

}  // namespace memduel
