// The document on a terminal: its first screen on few lines, or all of it.

#include "reports/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <variant>

#include "reports/report_document.h"
#include "util/text.h"
#include "writers/terminal_layout.h"

namespace memduel {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kLabel = 9;  ///< "Caveats: "

/// Lines that stay or go together.
struct Piece {
  std::vector<Line> lines;
  int dispensable = 0;
};

class TerminalDocument {
 public:
  TerminalDocument(const ReportDocument& document, const TerminalOptions& options)
      : document_(document), options_(options), width_(static_cast<std::size_t>(options.width)) {}

  std::string first_screen(int most_lines) {
    add_head();
    for (const Section& section : document_.first_screen) add_labelled(section);
    add_exit();
    cut_to(static_cast<std::size_t>(std::max(most_lines, 1)));
    return text();
  }

  std::string whole() {
    add_head();
    for (const Section& section : document_.first_screen) add_labelled(section);
    add_exit();
    for (const Section& section : document_.details) add_titled(section);
    return text();
  }

 private:
  [[nodiscard]] std::string text() const {
    std::string out;
    for (const Piece& piece : pieces_)
      for (const Line& line : piece.lines) out += line.text + '\n';
    return out;
  }

  void add(std::vector<Line> lines, int dispensable = 0) {
    if (!lines.empty()) pieces_.push_back({std::move(lines), dispensable});
  }
  void add_blank() { add({Line{}}); }

  /// `label` before the first line, spaces before the others.
  static std::vector<Line> indented(std::vector<Line> lines, const Line& label) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      Line line = i == 0 ? label : space(label.columns);
      if (lines[i].columns == 0 && i > 0) line = {};
      line.append(lines[i]);
      lines[i] = std::move(line);
    }
    return lines;
  }

  [[nodiscard]] std::vector<Line> paragraph(const Text& text, std::size_t indent) const {
    return laid_out(text, width_ - indent, false, options_);
  }

  void add_head() {
    const std::string word(to_name(document_.answer));
    const std::string badge = painted(word,
                                      tone_of(document_.answer) == Tone::good  ? "\033[1;32m"
                                      : tone_of(document_.answer) == Tone::bad ? "\033[1;31m"
                                                                               : "\033[1m",
                                      options_);
    const bool has_badge = document_.answer != Answer::no_gates;
    const std::size_t columns = has_badge ? word.size() + 2 : 0;
    add(indented(laid_out(document_.sentence, width_ - columns, false, options_),
                 {has_badge ? badge + "  " : "", columns}));
    std::size_t widest = 0;
    for (const ComparedVariant& variant : document_.compared)
      widest = std::max(widest, count_characters(marked_name(variant)));
    widest = std::min<std::size_t>(widest, 28);
    for (const ComparedVariant& variant : document_.compared) add_variant(variant, widest);
    add(indented(paragraph(Text(document_.setting, Tone::muted), kIndent), space(kIndent)));
    if (!document_.notice.empty()) add(paragraph(document_.notice, 0));
  }

  /// "a (baseline)"; the name alone where nothing is compared.
  [[nodiscard]] std::string marked_name(const ComparedVariant& variant) const {
    const bool is_marked = variant.is_baseline && document_.compared.size() > 1;
    return escape_terminal(variant.name) + (is_marked ? " (baseline)" : "");
  }

  void add_variant(const ComparedVariant& variant, std::size_t widest) {
    const std::string name = marked_name(variant);
    if (variant.words.empty() && name == escape_terminal(variant.name)) return;
    const Line label = {std::string(kIndent, ' ') + padded(name, widest, false) + "  ",
                        kIndent + widest + 2};
    constexpr std::size_t kMostBeside = 3;  // lines; more of them go below the name
    std::vector<Line> beside = paragraph(Text(variant.words), label.columns);
    if (beside.size() <= kMostBeside && count_characters(name) <= widest)
      return add(indented(std::move(beside), label));
    const std::string alone = std::string(kIndent, ' ') + name;
    add({{alone, count_characters(alone)}});
    add(indented(paragraph(Text(variant.words), 2 * kIndent), space(2 * kIndent)));
  }

  void add_exit() { add(laid_out(document_.exit, width_, false, options_)); }

  /// A section without a title stands between blank lines; with one, its title is before its lines.
  void add_labelled(const Section& section) {
    if (std::ranges::none_of(section.parts, &Part::is_in_terminal)) return;
    const bool has_label = !section.title.empty();
    if (!has_label) add_blank();
    Line label = space(has_label ? kLabel : kIndent);
    if (has_label) label.text = padded(section.title + ":", kLabel, false);
    for (const Part& part : section.parts) {
      if (!part.is_in_terminal()) continue;
      if (const auto* command = std::get_if<Command>(&part.value)) {
        add(command_lines(*command), part.dispensable);
        continue;
      }
      add(indented(lines_of(part.value, width_ - label.columns), label), part.dispensable);
      label = space(label.columns);
    }
    if (!has_label) add_blank();
  }

  void add_titled(const Section& section) {
    if (std::ranges::none_of(section.parts, &Part::is_in_terminal)) return;
    add_blank();
    add({{painted(section.title, "\033[1m", options_), count_characters(section.title)}});
    for (const Part& part : section.parts)
      if (part.is_in_terminal()) add(lines_of(part.value, width_));
  }

  static std::vector<Line> command_lines(const Command& command) {
    const std::string text = std::string(kIndent, ' ') + escape_terminal(command.command);
    return {{text, count_characters(text)}};
  }

  [[nodiscard]] std::vector<Line> lines_of(const PartValue& value, std::size_t width) const {
    return std::visit([&](const auto& part) { return lines_of_one(part, width); }, value);
  }

  [[nodiscard]] std::vector<Line> lines_of_all(const std::vector<Part>& parts,
                                               std::size_t width) const {
    std::vector<Line> lines;
    for (const Part& part : parts) {
      if (!part.is_in_terminal()) continue;
      std::vector<Line> more = lines_of(part.value, width);
      std::ranges::move(more, std::back_inserter(lines));
    }
    return lines;
  }

  [[nodiscard]] std::vector<Line> lines_of_one(const Paragraph& part, std::size_t width) const {
    return laid_out(part.text, width, false, options_);
  }
  [[nodiscard]] std::vector<Line> lines_of_one(const List& part, std::size_t width) const {
    std::vector<Line> lines;
    for (const Text& item : part.items)
      for (Line& line : indented(laid_out(item, width - kIndent, false, options_), {"• ", kIndent}))
        lines.push_back(std::move(line));
    return lines;
  }
  [[nodiscard]] std::vector<Line> lines_of_one(const Command& part, std::size_t /*width*/) const {
    return command_lines(part);
  }
  [[nodiscard]] std::vector<Line> lines_of_one(const Table& part, std::size_t width) const {
    return table_lines(part, width, options_);
  }
  [[nodiscard]] std::vector<Line> lines_of_one(const Fold& part, std::size_t width) const {
    std::vector<Line> lines = laid_out(Text(part.title, Tone::strong), width, true, options_);
    std::vector<Line> more = lines_of_all(part.parts, width);
    if (more.empty()) return {};
    std::ranges::move(more, std::back_inserter(lines));
    return lines;
  }
  [[nodiscard]] std::vector<Line> lines_of_one(const Choice& part, std::size_t width) const {
    return part.options.empty() ? std::vector<Line>()
                                : lines_of_all(part.options.front().parts, width);
  }
  [[nodiscard]] std::vector<Line> lines_of_one(const Preformatted& /*part*/,
                                               std::size_t /*width*/) const {
    return {};
  }
  [[nodiscard]] std::vector<Line> lines_of_one(const RoundsChart& /*part*/,
                                               std::size_t /*width*/) const {
    return {};
  }
  [[nodiscard]] std::vector<Line> lines_of_one(const FlameGraphs& /*part*/,
                                               std::size_t /*width*/) const {
    return {};
  }
  [[nodiscard]] std::vector<Line> lines_of_one(const Downloads& /*part*/,
                                               std::size_t /*width*/) const {
    return {};
  }

  /// Leaves out what can best be done without, until the rest has at most so many lines.
  void cut_to(std::size_t most) {
    const auto total = [&] {
      std::size_t sum = 0;
      for (const Piece& piece : pieces_) sum += piece.lines.size();
      return sum;
    };
    while (total() > most) {
      const int least = std::ranges::max(pieces_, {}, &Piece::dispensable).dispensable;
      if (least == 0) return;
      std::erase_if(pieces_, [&](const Piece& piece) { return piece.dispensable == least; });
    }
  }

  const ReportDocument& document_;
  const TerminalOptions& options_;
  std::size_t width_;
  std::vector<Piece> pieces_;
};

}  // namespace

std::string render_summary(const ReportDocument& document, const TerminalOptions& options,
                           int lines) {
  return TerminalDocument(document, options).first_screen(lines);
}

std::string render_terminal(const ReportDocument& document, const TerminalOptions& options) {
  return TerminalDocument(document, options).whole();
}

}  // namespace memduel
