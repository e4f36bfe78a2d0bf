// The document as Markdown, for a comment of a pull request or a job's summary.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <type_traits>
#include <variant>

#include "escape.h"
#include "reports/text_formats.h"
#include "util/text.h"

namespace memduel {
namespace {

/// GitHub takes 65,536 characters.
constexpr std::size_t kMostBytes = 65'000;
constexpr std::size_t kMostOfTable = 20'000;
constexpr std::size_t kMostOfCell = 160;
constexpr std::size_t kMostOfLine = 1'000;

/// Cut where a character of UTF-8 begins.
std::string cut(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "…";
}

/// Letters, digits and single dashes: nothing that could end an HTML comment.
std::string marker_name(const std::string& name) {
  std::string marker;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.')
      marker += c;
    else if (!marker.empty() && marker.back() != '-')
      marker += '-';
  }
  return marker;
}

/// For a block of code: nothing in it ends the block.
std::string without_fence(std::string text) {
  text = escape_terminal(text);
  std::ranges::replace(text, '`', '\'');
  return text;
}

std::string code(const std::string& text, std::size_t most) {
  return text.empty() ? "" : "`" + without_fence(cut(text, most)) + "`";
}

std::string text_of(const Text& text, std::size_t most) {
  std::string out;
  for (const TextRun& run : text.runs()) {
    const std::string escaped = escape_markdown(cut(run.text, most));
    const bool is_blank = run.text.find_first_not_of(' ') == std::string::npos;
    if (!run.link.empty())
      out += escaped + " below";  // in the folded sections
    else if (run.tone == Tone::code)
      out += code(run.text, kMostOfLine);  // a name that is cut can be equal to another
    else if (run.tone == Tone::strong && !is_blank && !run.text.starts_with(' ') &&
             !run.text.ends_with(' '))
      out += "**" + escaped + "**";
    else
      out += escaped;
  }
  return out;
}

const char* icon(Answer answer) {
  switch (answer) {
    case Answer::pass:
      return "✅";
    case Answer::fail:
    case Answer::not_measured:
      return "❌";
    case Answer::inconclusive:
      return "❔";
    case Answer::no_gates:
      break;
  }
  return "ℹ️";
}

std::string cell_text(const Cell& cell) {
  constexpr std::size_t kMostCallers = 3;
  if (!cell.stack || !cell.text.empty()) return text_of(cell.text, kMostOfCell);
  std::string text = escape_markdown(cut(cell.stack->function, kMostOfCell));
  if (!cell.stack->location.empty()) text += " (" + escape_markdown(cell.stack->location) + ")";
  const auto& callers = cell.stack->callers;
  for (std::size_t i = 0; i < std::min(callers.size(), kMostCallers); ++i)
    text += " ← " + escape_markdown(cut(callers[i], kMostOfCell));
  return text;
}

std::string write(const PartValue& value);

std::string write_all(const std::vector<Part>& parts) {
  std::string out;
  for (const Part& part : parts)
    if (part.is_in_markdown()) out += write(part.value);
  return out;
}

std::string write_one(const Paragraph& part) {
  return text_of(part.text, kMostOfLine) + "\n\n";
}

std::string write_one(const List& part) {
  std::string out;
  for (const Text& item : part.items) out += "- " + text_of(item, kMostOfLine) + "\n";
  return out + "\n";
}

std::string write_one(const Command& part) {
  return "    " + escape_terminal(part.command) + "\n\n";
}

std::string write_one(const Table& part) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < part.columns.size(); ++c)
    if (part.columns[c].is_in_text()) columns.push_back(c);
  std::string out = part.caption.empty() ? "" : "**" + escape_markdown(part.caption) + "**\n\n";
  std::string rule;
  out += "|";
  for (const std::size_t c : columns) {
    out += " " + escape_markdown(cut(part.columns[c].title, kMostOfCell)) + " |";
    rule += part.columns[c].is_number ? " ---: |" : " --- |";
  }
  out += "\n|" + rule + "\n";
  const std::size_t most = part.most_shown == 0 ? part.rows.size() : part.most_shown;
  std::size_t shown = 0;
  for (const Row& row : part.rows) {
    if (shown == most || out.size() > kMostOfTable) break;
    out += "|";
    if (row.kind == RowKind::member) out += " &emsp;";
    for (const std::size_t c : columns)
      out += " " + (c < row.cells.size() ? cell_text(row.cells[c]) : "") + " |";
    out += "\n";
    ++shown;
  }
  if (shown < part.rows.size())
    out += fmt::format("\n{} in the HTML report.\n",
                       format_count(part.rows.size() - shown, "more row is", "more rows are"));
  return out + "\n";
}

std::string write_one(const Fold& part) {
  const std::string inside = write_all(part.parts);
  return inside.empty() ? "" : "**" + escape_markdown(part.title) + "**\n\n" + inside;
}

std::string write_one(const Choice& part) {
  return part.options.empty() ? "" : write_all(part.options.front().parts);
}

std::string write_one(const Preformatted& /*part*/) {
  return {};
}
std::string write_one(const RoundsChart& /*part*/) {
  return {};
}
std::string write_one(const FlameGraphs& /*part*/) {
  return {};
}
std::string write_one(const Downloads& /*part*/) {
  return {};
}

std::string write(const PartValue& value) {
  return std::visit([](const auto& part) { return write_one(part); }, value);
}

/// A label before its first part, on the same line unless that is a table.
std::string labelled(const Section& section) {
  const std::string inside = write_all(section.parts);
  if (inside.empty() || section.title.empty()) return inside;
  const auto first = std::ranges::find_if(section.parts, &Part::is_in_markdown);
  const bool is_table = std::holds_alternative<Table>(first->value);
  return "**" + escape_markdown(section.title) + (is_table ? "**\n\n" : "**: ") + inside;
}

std::string folded(const Section& section) {
  const std::string inside = write_all(section.parts);
  if (inside.empty()) return {};
  return fmt::format("<details><summary>{}</summary>\n\n{}</details>\n\n",
                     escape_markdown(section.title), inside);
}

std::string head_of(const ReportDocument& document) {
  const std::string answer =
      document.answer == Answer::no_gates ? "" : fmt::format(" {}:", to_name(document.answer));
  std::string out =
      fmt::format("<!-- memduel:{} -->\n### {}{} {}\n\n", marker_name(document.name),
                  icon(document.answer), answer, text_of(document.sentence, kMostOfLine));
  for (const ComparedVariant& variant : document.compared) {
    const bool is_marked = variant.is_baseline && document.compared.size() > 1;
    if (variant.words.empty() && !is_marked) continue;
    out +=
        fmt::format("- **{}**{}{}\n", escape_markdown(variant.name), is_marked ? " (baseline)" : "",
                    variant.words.empty() ? "" : ": " + code(variant.words, kMostOfLine));
  }
  out += "\n";
  if (!document.notice.empty()) out += escape_markdown(document.notice) + "\n\n";
  return out;
}

}  // namespace

std::string render_markdown(const ReportDocument& document) {
  std::string out = head_of(document);
  for (const Section& section : document.first_screen) out += labelled(section);
  out += fmt::format("{} {}.\n\n", text_of(document.exit, kMostOfLine),
                     escape_markdown(document.setting));
  std::string left_out;
  for (const Section& section : document.details) {
    const std::string text = folded(section);
    if (out.size() + text.size() <= kMostBytes)
      out += text;
    else
      left_out += (left_out.empty() ? "" : ", ") + section.title;
  }
  if (!left_out.empty())
    out += fmt::format("Left out, because a comment has no room for it: {}. See report.html.\n",
                       escape_markdown(left_out));
  return out;
}

}  // namespace memduel
