#include "writers/terminal_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "util/text.h"

namespace memduel {
namespace {

const char* color_of(Tone tone) {
  switch (tone) {
    case Tone::strong:
      return "\033[1m";
    case Tone::muted:
      return "\033[2m";
    case Tone::good:
      return "\033[32m";
    case Tone::bad:
      return "\033[31m";
    case Tone::plain:
    case Tone::code:
      break;
  }
  return "";
}

struct Word {
  std::string text;
  Tone tone = Tone::plain;
  bool is_joined = false;  ///< no space before it
};

/// Where the word at `at` ends. Python's place of a module of its own, `(<frozen abc>:107)`, is one
/// word although it has a space, if it fits into a line.
std::size_t end_of_word(const std::string& text, std::size_t at, std::size_t width) {
  constexpr std::string_view kPlace = "<frozen ";
  const std::size_t end = std::min(text.find(' ', at), text.size());
  if (!std::string_view(text).substr(at, end + 1 - at).ends_with(kPlace)) return end;
  const std::size_t close = text.find('>', end);
  if (close == std::string::npos) return end;
  const std::size_t whole = std::min(text.find(' ', close), text.size());
  return count_characters(text.substr(at, whole - at)) <= width ? whole : end;
}

std::vector<Word> words_of(const Text& text, std::size_t width) {
  std::vector<Word> words;
  bool ends_in_space = true;
  for (const TextRun& run : text.runs()) {
    const std::string safe = escape_terminal(run.text);
    for (std::size_t at = 0; at < safe.size();) {
      if (safe[at] == ' ') {
        ends_in_space = true;
        ++at;
        continue;
      }
      const std::size_t end = end_of_word(safe, at, width);
      words.push_back({safe.substr(at, end - at), run.tone, !ends_in_space});
      ends_in_space = false;
      at = end;
    }
  }
  return words;
}

/// The first `count` characters, and from where they end.
std::string first_characters(const std::string& text, std::size_t count) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count && bytes < text.size(); ++i)
    bytes += std::max<std::size_t>(character_length(text, bytes), 1);
  return text.substr(0, bytes);
}

std::string last_characters(const std::string& text, std::size_t count) {
  const std::size_t all = count_characters(text);
  return count >= all ? text : text.substr(first_characters(text, all - count).size());
}

/// Exactly `width` columns or fewer: the middle is left out, for names end in what tells them
/// apart.
std::string without_middle(const std::string& word, std::size_t width) {
  if (count_characters(word) <= width || width < 2) return word;
  const std::size_t end = (width - 1) / 2;
  return first_characters(word, width - 1 - end) + "…" + last_characters(word, end);
}

constexpr std::string_view kSignsOfGates = "._=|/";
constexpr std::string_view kSignsOfTitles = "-._=|/ ";

/// Pieces of at most `width` characters of a name that has to stay whole, such as a gate's: it
/// breaks behind one of the signs if there is one.
std::vector<std::string> broken(const std::string& name, std::size_t width,
                                std::string_view signs) {
  std::vector<std::string> pieces;
  for (std::string rest = name; !rest.empty();) {
    std::string piece = first_characters(rest, std::max<std::size_t>(width, 1));
    const std::size_t sign = piece.find_last_of(signs);
    if (piece.size() < rest.size() && sign != std::string::npos) piece.resize(sign + 1);
    rest.erase(0, piece.size());
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

/// What a text shows of a cell: of a stack the function, its place and its callers.
Text text_of(const Cell& cell) {
  constexpr std::size_t kMostCallers = 3;
  if (!cell.stack || !cell.text.empty()) return cell.text;
  Text text(cell.stack->function);
  if (!cell.stack->location.empty()) text.add(" (" + cell.stack->location + ")", Tone::muted);
  const auto& callers = cell.stack->callers;
  for (std::size_t i = 0; i < std::min(callers.size(), kMostCallers); ++i)
    text.add(" ← " + callers[i], Tone::muted);
  return text;
}

std::size_t width_of(const Text& text) {
  std::size_t columns = 0;
  for (const TextRun& run : text.runs()) columns += count_characters(escape_terminal(run.text));
  return columns;
}

Line padded_line(const Line& line, std::size_t width, bool right) {
  const std::size_t missing = width > line.columns ? width - line.columns : 0;
  Line out = right ? space(missing) : line;
  out.append(right ? line : space(missing));
  return out;
}

/// Of the first cell of a row.
std::size_t indent_of(const Row& row) {
  return row.kind == RowKind::member ? 2 : 0;
}

/// The least width with which a title takes two lines.
std::size_t width_on_two_lines(const std::string& title) {
  std::size_t least = width_of(Text(title));
  for (std::size_t sign = title.find_first_of(kSignsOfTitles); sign != std::string::npos;
       sign = title.find_first_of(kSignsOfTitles, sign + 1))
    least = std::min(least, std::max(width_of(Text(title.substr(0, sign + 1))),
                                     width_of(Text(title.substr(sign + 1)))));
  return least;
}

/// Width of each column as its cells want it.
/// @param breaks_titles of numbers, such as the names of variants: they take two lines
std::vector<std::size_t> wanted_widths(const Table& table, bool breaks_titles) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    constexpr std::size_t kMostOfTitle = 14;
    const std::string& title = table.columns[c].title;
    const bool breaks = breaks_titles && table.columns[c].is_number;
    std::size_t widest =
        table.has_heading
            ? std::min(breaks ? width_on_two_lines(title) : width_of(Text(title)), kMostOfTitle)
            : 0;
    for (const Row& row : table.rows)
      if (c < row.cells.size())
        widest = std::max(widest, width_of(text_of(row.cells[c])) + (c == 0 ? indent_of(row) : 0));
    widths.push_back(widest);
  }
  return widths;
}

/// The width of its longest word: a column that is narrower cuts words.
std::size_t longest_word(const Table& table, std::size_t column) {
  std::size_t longest = table.has_heading ? width_of(table.columns[column].title) : 0;
  for (const Row& row : table.rows) {
    if (column >= row.cells.size()) continue;
    const std::size_t indent = column == 0 ? indent_of(row) : 0;
    std::size_t columns = 0;
    for (const Word& word : words_of(text_of(row.cells[column]), 0)) {
      columns = (word.is_joined ? columns : 0) + count_characters(word.text);
      longest = std::max(longest, indent + columns);
    }
  }
  return longest;
}

/// How wide the columns of a table are, and what is between them.
struct Widths {
  std::vector<std::size_t> columns;
  std::size_t gap = 2;
  std::size_t gap_before_words = 2;  ///< behind a number, with which they would read as one
  bool breaks_titles = false;

  [[nodiscard]] std::size_t gap_between(const Column& left, const Column& right) const {
    return left.is_number && !right.is_number ? gap_before_words : gap;
  }
};

/// Narrows the gaps, then the columns of words, the widest first, until all fit. Whether they do.
/// @param least_of_long_words how much of a longer word a column keeps
bool fit(const Table& table, const std::vector<std::size_t>& columns, Widths& all,
         std::size_t width, std::size_t least_of_long_words) {
  const auto least = [&](std::size_t column) {
    return std::min(least_of_long_words, longest_word(table, column));
  };
  std::vector<std::size_t>& widths = all.columns;
  const auto total = [&] {
    std::size_t sum = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      sum += widths[columns[k]];
      if (k > 0) sum += all.gap_between(table.columns[columns[k - 1]], table.columns[columns[k]]);
    }
    return sum;
  };
  constexpr std::size_t kNarrow = 64;
  if (total() > width) all.gap = 1;
  // Where that is not enough to keep words on one line, the gap stays.
  if (total() > width) all.gap_before_words = 1;
  if (total() > width && width >= kNarrow) all.gap_before_words = 2;
  while (total() > width) {
    std::size_t widest = table.columns.size();
    for (const std::size_t c : columns)
      if (!table.columns[c].is_number && widths[c] > least(c) &&
          (widest == table.columns.size() || widths[c] > widths[widest]))
        widest = c;
    if (widest == table.columns.size()) return false;
    widths[widest] -= std::min(total() - width, widths[widest] - least(widest));
  }
  return true;
}

std::vector<Line> table_block(const Table& table, const std::vector<std::size_t>& columns,
                              const Widths& all, const TerminalOptions& options) {
  const std::vector<std::size_t>& widths = all.columns;
  std::vector<Line> lines;
  std::vector<Line> rest_of_key;  // beside the details below their row
  const auto add_row = [&](auto text_at, std::size_t indent, bool has_details) {
    std::vector<std::vector<Line>> cells;
    std::size_t height = 1;
    for (const std::size_t c : columns) {
      const std::size_t before = c == columns.front() ? indent : 0;
      std::vector<Line> cell = laid_out(text_at(c), widths[c] - before, true, options);
      for (Line& line : cell) {
        Line whole = space(before);
        whole.append(line);
        line = std::move(whole);
      }
      if (c == columns.front() && cell.size() == 1 && cell.front().columns == before)
        cell = std::exchange(rest_of_key, {});
      if (c != columns.front() || !has_details) height = std::max(height, cell.size());
      cells.push_back(std::move(cell));
    }
    if (has_details && cells.front().size() > height)
      rest_of_key.assign(cells.front().begin() + static_cast<std::ptrdiff_t>(height),
                         cells.front().end());
    for (std::size_t i = 0; i < height; ++i) {
      Line line;
      for (std::size_t k = 0; k < columns.size(); ++k) {
        const Line cell = i < cells[k].size() ? cells[k][i] : Line{};
        const std::size_t width = widths[columns[k]];
        const bool is_last = k + 1 == columns.size();
        const bool right = table.columns[columns[k]].is_number;
        line.append(is_last && !right ? cell : padded_line(cell, width, right));
        if (!is_last)
          line.append(
              space(all.gap_between(table.columns[columns[k]], table.columns[columns[k + 1]])));
      }
      while (line.text.ends_with(' ')) line.text.pop_back();
      lines.push_back(std::move(line));
    }
  };
  if (table.has_heading)
    add_row(
        [&](std::size_t c) {
          const std::string& title = table.columns[c].title;
          const bool breaks = all.breaks_titles && table.columns[c].is_number;
          return Text(
              breaks ? fmt::format("{}", fmt::join(broken(title, widths[c], kSignsOfTitles), " "))
                     : title,
              Tone::muted);
        },
        0, false);
  const std::size_t most = table.most_shown == 0 ? table.rows.size() : table.most_shown;
  const std::size_t count = std::min(most, table.rows.size());
  for (std::size_t r = 0; r < count; ++r) {
    const Row& row = table.rows[r];
    add_row([&](std::size_t c) { return c < row.cells.size() ? text_of(row.cells[c]) : Text(); },
            indent_of(row), r + 1 < count && table.rows[r + 1].kind == RowKind::detail);
  }
  if (most < table.rows.size()) {
    const std::string rest = fmt::format("{} more in the HTML report", table.rows.size() - most);
    lines.push_back({rest, rest.size()});
  }
  return lines;
}

}  // namespace

Line space(std::size_t count) {
  return {std::string(count, ' '), count};
}

std::vector<Line> laid_out(const Text& text, std::size_t width, bool cuts,
                           const TerminalOptions& options) {
  std::vector<Line> lines(1);
  const std::vector<Word> words = words_of(text, width);
  for (std::size_t first = 0; first < words.size();) {
    std::size_t end = first + 1;  // words without a space between them stay together
    std::size_t columns = count_characters(words[first].text);
    for (; end < words.size() && words[end].is_joined; ++end)
      columns += count_characters(words[end].text);
    const bool fits = lines.back().columns + 1 + columns <= width;
    if (lines.back().columns > 0 && !fits) lines.emplace_back();
    if (lines.back().columns > 0) lines.back().append(space(1));
    for (; first < end; ++first) {
      const bool is_too_long = cuts && columns > width;
      if (is_too_long && words[first].tone == Tone::code) {
        for (const std::string& piece : broken(words[first].text, width, kSignsOfGates)) {
          const std::size_t more = count_characters(piece);
          if (lines.back().columns > 0 && lines.back().columns + more > width) lines.emplace_back();
          lines.back().append({painted(piece, color_of(Tone::code), options), more});
        }
        continue;
      }
      const std::string shown =
          is_too_long ? without_middle(words[first].text, width) : words[first].text;
      lines.back().append(
          {painted(shown, color_of(words[first].tone), options), count_characters(shown)});
    }
  }
  return lines;
}

std::vector<Line> table_lines(const Table& table, std::size_t width,
                              const TerminalOptions& options) {
  const Widths wanted{wanted_widths(table, false)};
  Widths narrow{wanted_widths(table, true)};
  narrow.breaks_titles = true;
  std::vector<std::size_t> left;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (table.columns[c].is_in_text()) left.push_back(c);
  std::vector<Line> lines;
  if (!table.caption.empty())
    for (Line& line : laid_out(Text(table.caption, Tone::strong), width, true, options))
      lines.push_back(std::move(line));
  if (left.empty()) return lines;
  const std::size_t key = left.front();
  left.erase(left.begin());
  do {
    std::vector<std::size_t> columns = {key};
    Widths widths = wanted;
    columns.insert(columns.end(), left.begin(), left.end());
    // Columns below others have no names of their rows but the first column's.
    constexpr std::size_t kUsual = 14;
    constexpr std::size_t kShort = 11;
    bool fits = fit(table, columns, widths, width, kUsual);
    if (!fits) fits = fit(table, columns, widths = wanted, width, kShort);
    if (!fits) fits = fit(table, columns, widths = narrow, width, kUsual);
    if (!fits) fits = fit(table, columns, widths = narrow, width, kShort);
    while (!fits && columns.size() > 2) {
      columns.pop_back();
      fits = fit(table, columns, widths = wanted, width, kUsual);
    }
    if (!lines.empty() && left.size() + 1 > columns.size() && columns.size() > 1 &&
        lines.size() > 1 && table.caption.empty())
      lines.emplace_back();
    for (Line& line : table_block(table, columns, widths, options))
      lines.push_back(std::move(line));
    left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(columns.size() - 1));
  } while (!left.empty());
  return lines;
}

}  // namespace memduel
