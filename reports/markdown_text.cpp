#include "reports/formats/markdown_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "reports/tables/escape.h"
#include "reports/tables/words.h"

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

}  // namespace memduel
