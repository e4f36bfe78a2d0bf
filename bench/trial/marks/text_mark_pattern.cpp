// Patterns for lines of logs, by PCRE2, and what their groups mark.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "model/metric_catalogue.h"
#include "trial/marks.h"
#include "util/error.h"
#include "util/text.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace memduel {
namespace {

/// About 10 ms of searching one line; PCRE2's own limit lets a pattern like (a+)+b take seconds.
constexpr std::uint32_t kMatchLimit = 200'000;

std::vector<LogPattern::Group> groups_of(const pcre2_code* code) {
  std::uint32_t count = 0;
  std::uint32_t entry_size = 0;
  PCRE2_SPTR entry = nullptr;
  pcre2_pattern_info(code, PCRE2_INFO_NAMECOUNT, &count);
  pcre2_pattern_info(code, PCRE2_INFO_NAMEENTRYSIZE, &entry_size);
  pcre2_pattern_info(code, PCRE2_INFO_NAMETABLE, &entry);
  std::vector<LogPattern::Group> groups;
  for (; count > 0; --count, entry += entry_size) {
    // Two bytes of group number, then the name with its NUL.
    groups.push_back({reinterpret_cast<const char*>(entry + 2),
                      static_cast<std::size_t>(entry[0] << 8 | entry[1])});
  }
  std::ranges::sort(groups, [](const auto& a, const auto& b) { return a.number < b.number; });
  return groups;
}

}  // namespace

struct LogPattern::Code {
  explicit Code(pcre2_code* compiled)
      : code(compiled),
        match(pcre2_match_data_create_from_pattern(compiled, nullptr)),
        context(pcre2_match_context_create(nullptr)) {
    pcre2_set_match_limit(context, kMatchLimit);
  }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() {
    pcre2_match_context_free(context);
    pcre2_match_data_free(match);
    pcre2_code_free(code);
  }

  [[nodiscard]] int search(std::string_view line) const {
    return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(line.data()), line.size(), 0, 0, match,
                       context);
  }

  pcre2_code* code;
  pcre2_match_data* match;
  pcre2_match_context* context;
};

LogPattern::LogPattern(const std::string& pattern) {
  int error_number = 0;
  PCRE2_SIZE error_offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), 0,
                                   &error_number, &error_offset, nullptr);
  if (code == nullptr) {
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(error_number, text.data(), text.size());
    throw Error(ExitCode::usage,
                fmt::format("\"{}\" is not a regular expression: {} at character {}", pattern,
                            reinterpret_cast<const char*>(text.data()), error_offset + 1));
  }
  code_ = std::make_shared<Code>(code);
  named_groups_ = groups_of(code);
  std::uint32_t count = 0;
  pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &count);
  group_count_ = count;
}

bool LogPattern::matches(std::string_view line) const {
  return code_->search(line) >= 0;
}

LogPattern::Match LogPattern::match(std::string_view line) const {
  Match result;
  const int found = code_->search(line);
  if (found < 0) {
    if (found != PCRE2_ERROR_NOMATCH) result.outcome = Outcome::gave_up;
    return result;
  }
  result.outcome = Outcome::found;
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(code_->match);
  for (std::size_t group = 0; group <= group_count_; ++group) {
    const PCRE2_SIZE begin = bounds[2 * group];
    const PCRE2_SIZE end = bounds[2 * group + 1];
    // \K in a lookahead can put the begin after the end.
    const bool took_part = begin != PCRE2_UNSET && begin <= end;
    result.groups.push_back(took_part ? std::optional(line.substr(begin, end - begin))
                                      : std::nullopt);
  }
  return result;
}

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
                fmt::format("rename it to {}logged_{}", prefix->text, name));
  const Direction own = metric_info(name).better;
  if (own != Direction::undeclared && prefix->better != Direction::undeclared &&
      prefix->better != own)
    throw Error(ExitCode::usage, fmt::format("{}{} is better for {}", found, to_name(own), name),
                {}, fmt::format("rename it to {}_{}, or rename the metric", to_name(own), name));
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
      nearest ? fmt::format("did you mean \"{}\"? for an unnamed group, write (?:…)", *nearest)
              : "for an unnamed group, write (?:…)");
}

TextMarkPattern::TextMarkPattern(const std::string& pattern) : text_(pattern), pattern_(pattern) {
  for (const LogPattern::Group& group : pattern_.named_groups()) parts_.push_back(part_of(group));
  if (parts_.empty() && pattern_.group_count() == 0) {
    throw Error(ExitCode::usage,
                fmt::format("\"{}\" has no named group, {}", pattern, kKnownGroups), {},
                "put the round number into a group: Round (?<round>\\d+)");
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
