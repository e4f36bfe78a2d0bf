#include "markdown_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>

#include "escape.h"
#include "reports/terminal.h"
#include "util/text.h"
#include "verdict/comparison.h"
#include "words.h"

namespace memduel {
namespace {

constexpr std::size_t kMostOfCell = 160;
constexpr std::size_t kMostOfLine = 1'000;

/// Of a name or a sentence; cut where a character of UTF-8 begins.
std::string cut(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "…";
}

}  // namespace

std::string marker_name(const std::string& title) {
  std::string name;
  for (const char c : title) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.')
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  return name;
}

const char* icon(Verdict verdict) {
  switch (verdict) {
    case Verdict::improved:
      return "✅";
    case Verdict::regressed:
      return "❌";
    case Verdict::changed:
      return "🔷";
    case Verdict::unchanged:
      return "➖";
    case Verdict::inconclusive:
      break;
  }
  return "❔";
}

std::string markdown_cell(const std::string& text) {
  return escape_markdown(cut(with_minus(text), kMostOfCell));
}

std::string markdown_line(const std::string& text) {
  return escape_markdown(cut(with_minus(text), kMostOfLine));
}

std::string without_fence(std::string text) {
  std::ranges::replace(text, '`', '\'');
  std::erase_if(text, [](char letter) { return static_cast<unsigned char>(letter) < 0x20; });
  return text;
}

std::string markdown_code(const std::string& text) {
  return fmt::format("`{}`", without_fence(cut(text, kMostOfCell)));
}

namespace {

constexpr std::size_t kColumns = 48;
constexpr std::size_t kMostArms = 4;
constexpr std::size_t kName = 16;

std::string strip(const std::vector<double>& values, double least, double most) {
  constexpr std::array kDots = {" ", "·", "•", "●"};  // of so many trials, the last of more
  std::array<std::size_t, kColumns> counts{};
  for (const double value : values) {
    const double place = most > least ? (value - least) / (most - least) : 0;
    if (!(place >= 0 && place <= 1)) continue;  // a store may hold infinities
    ++counts[static_cast<std::size_t>(std::lround(place * (kColumns - 1)))];
  }
  std::string text = "|";
  for (const std::size_t count : counts) text += kDots[std::min(count, kDots.size() - 1)];
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

std::vector<std::string> dot_strips(const ReportModel& model) {
  const Results& results = model.results;
  if (model.headlines.empty()) return {};
  const Headline& first = model.headlines.front();
  const Comparison* row = results.row(first.candidate, first.role, first.metric);
  if (row == nullptr) return {};
  std::vector<std::string> arms = {row->baseline};
  for (const Headline& headline : model.headlines)
    if (headline.role == first.role && headline.metric == first.metric && arms.size() < kMostArms)
      arms.push_back(headline.candidate);
  std::vector<std::vector<double>> values;
  double least = 0;
  double most = 0;
  for (const ArmObservations& arm :
       observe(results.trials, results.job, arms, results.warmup_rounds).arms) {
    values.push_back(values_of(arm, row->role, row->metric));
    for (const double value : values.back()) {
      if (!std::isfinite(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  if (std::ranges::all_of(values, [](const auto& of_arm) { return of_arm.empty(); })) return {};
  std::vector<std::string> lines = {fmt::format(
      "{}, {} to {}: a dot for each run", quantity(results.job, row->role, row->metric),
      least < 0 ? format_metric(row->metric, least) : "0", format_metric(row->metric, most))};
  for (std::size_t i = 0; i < arms.size(); ++i)
    lines.push_back(padded(valid_utf8(arms[i]), kName, false) + " " +
                    strip(values[i], least, most));
  return lines;
}

}  // namespace memduel
