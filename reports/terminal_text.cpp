#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "reports/terminal.h"
#include "util/text.h"

namespace memduel {

std::string painted(const std::string& text, const char* color, const TerminalOptions& options) {
  return options.color && *color != '\0' ? color + text + "\033[0m" : text;
}

namespace {

/// Where the last column of a line's first half begins; `begin` where it has one column.
size_t last_column(const std::string& line, size_t begin) {
  constexpr size_t kFarthestColumn = 40;
  size_t column = begin;
  for (size_t gap = line.find("  ", begin); gap < kFarthestColumn; gap = line.find("  ", gap)) {
    gap = std::min(line.find_first_not_of(' ', gap), line.size());
    if (gap <= kFarthestColumn) column = gap;
  }
  return column;
}

/// `begun` and the words of `text` after it; a line that has more than its indent may be broken.
std::string broken_words(const std::string& begun, const std::string& text, size_t indent,
                         int width) {
  std::string out = begun;
  size_t column = count_characters(begun);
  bool first = true;
  std::istringstream words(text);
  for (std::string word; words >> word; first = false) {
    const size_t length = count_characters(word);
    if (!first && column > indent && column + 1 + length > static_cast<size_t>(width)) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += length;
  }
  return out + '\n';
}

/// At spaces after its last column only.
std::string broken_line(const std::string& line, size_t begin, int width) {
  const size_t kept = last_column(line, begin);
  const size_t indent = kept == begin ? begin + 2 : kept;
  return broken_words(line.substr(0, kept), line.substr(kept), indent, width);
}

}  // namespace

std::string wrapped(const std::string& text, size_t indent, int width) {
  return broken_words("", text, indent, width);
}

std::string fitted(const std::string& text, int width) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const bool whole = count_characters(line) <= static_cast<size_t>(width) ||
                       line.find('\033') != std::string::npos ||
                       std::string_view(line).substr(begin).starts_with("memduel ");
    out += whole ? line + '\n' : broken_line(line, begin, width);
  }
  if (!text.ends_with('\n') && !out.empty()) out.pop_back();
  return out;
}

std::string padded(const std::string& text, size_t width, bool right) {
  const size_t length = count_characters(text);
  if (length > width) {
    // Cut whole characters: a byte-wise cut could leave half a UTF-8 character.
    size_t kept = 0;
    size_t bytes = 0;
    while (bytes < text.size() && kept + 1 < width) {
      ++bytes;
      while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80)
        ++bytes;
      ++kept;
    }
    return text.substr(0, bytes) + "…";
  }
  const std::string space(width - length, ' ');
  return right ? space + text : text + space;
}

std::string sparkline(const std::vector<double>& values, double low, double high) {
  constexpr std::array kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string out;
  for (const double value : values) {
    const double place = high > low ? (value - low) / (high - low) : 0;
    out += kBars.at(static_cast<size_t>(std::clamp(place * 7 + 0.5, 0.0, 7.0)));
  }
  return out;
}

std::vector<double> thinned(const std::vector<double>& values, size_t width) {
  if (values.size() <= width) return values;
  std::vector<double> out(width, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    double& slot = out[i * width / values.size()];
    slot = std::max(slot, values[i]);
  }
  return out;
}

}  // namespace memduel
