#include "near_match.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "trial/marks.h"
#include "trial_failure.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel {
namespace {

constexpr std::size_t kMostLines = 400;
constexpr std::size_t kMostBytes = 256 * 1024;

std::optional<LogPattern> compiled(const std::string& pattern) {
  try {
    return LogPattern(pattern);
  } catch (const Error&) {  // a part of a pattern may be none
    return std::nullopt;
  }
}

/// Enough of a line to recognize it.
std::string shown(std::string_view line) {
  constexpr std::size_t kLongest = 100;
  const bool is_long = line.size() > kLongest;
  return fmt::format("\"{}{}\"", valid_utf8(std::string(line.substr(0, kLongest))),
                     is_long ? "…" : "");
}

/// The first line in which `pattern` is found by more than a few characters. A pattern that takes
/// too many steps in one line is not searched in others.
std::optional<std::string> line_with(const std::string& pattern,
                                     const std::vector<std::string>& lines) {
  constexpr std::size_t kFewest = 4;
  const auto search = compiled(pattern);
  if (!search) return std::nullopt;
  for (const std::string& line : lines) {
    const LogPattern::Match match = search->match(line);
    if (match.outcome == LogPattern::Outcome::gave_up) return std::nullopt;
    if (match.outcome == LogPattern::Outcome::found && match.groups.front() &&
        match.groups.front()->size() >= kFewest)
      return line;
  }
  return std::nullopt;
}

bool has_nul(const std::filesystem::path& log) {
  std::ifstream file(log, std::ios::binary);
  std::string begin(4096, 'x');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin.find('\0') != std::string::npos;
}

}  // namespace

std::string near_match(const std::filesystem::path& log, const std::string& pattern) {
  if (has_nul(log))
    return "the log has NUL characters, as UTF-16 has; make the program write UTF-8";
  std::vector<std::string> lines;
  const std::string tail = log_tail(log, kMostLines, kMostBytes);
  std::istringstream text(tail);
  for (std::string line; std::getline(text, line);)
    if (!line.empty()) lines.push_back(line);
  if (lines.empty()) return {};
  if (line_with(pattern, lines))
    return "it matches a line that is not of this trial, or that is too long";
  if (const auto line = line_with("(?i)" + pattern, lines))
    return fmt::format("it matches {} if case is ignored: begin the pattern with (?i)",
                       shown(*line));
  if (pattern.starts_with('^'))
    if (const auto line = line_with(pattern.substr(1), lines))
      return fmt::format("without ^ it matches {}", shown(*line));
  for (std::size_t size = pattern.size(); size-- > 1;) {
    const std::string part = pattern.substr(0, size);
    if (const auto line = line_with(part, lines))
      return fmt::format("the nearest line is {}, which matches as far as {}", shown(*line), part);
  }
  constexpr std::size_t kLast = 3;
  std::vector<std::string> last;
  for (std::size_t i = lines.size() - std::min(lines.size(), kLast); i < lines.size(); ++i)
    last.push_back(shown(lines[i]));
  return fmt::format("the last lines are {}", fmt::join(last, ", "));
}

}  // namespace memduel
