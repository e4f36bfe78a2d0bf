// The report of a run as a document: the parts that every format shows, in their order. Sections
// (reports/sections) build it from results; writers (reports/writers, templates/src) print it. No
// writer knows a section, and none computes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "util/reflection.h"

namespace memduel {

/// How a piece of text looks; the words beside it state the same.
enum class Tone { plain, strong, muted, good, bad, code };
template <>
inline constexpr NameTable<Tone, 6> kNameTable<Tone> = {{{Tone::plain, ""},
                                                         {Tone::strong, "strong"},
                                                         {Tone::muted, "muted"},
                                                         {Tone::good, "good"},
                                                         {Tone::bad, "bad"},
                                                         {Tone::code, "code"}}};

struct TextRun {
  std::string text;
  Tone tone = Tone::plain;
  std::string link = {};  // NOLINT(readability-redundant-member-init): id of a section, or empty
};

/// One line or paragraph in pieces of one look each.
class Text {
 public:
  Text() = default;
  // NOLINTBEGIN(google-explicit-constructor): most texts are of one piece
  Text(std::string text) { add(std::move(text)); }
  Text(const char* text) : Text(std::string(text)) {}
  // NOLINTEND(google-explicit-constructor)
  Text(std::string text, Tone tone) { add(std::move(text), tone); }

  Text& add(std::string text, Tone tone = Tone::plain) {
    if (!runs_.empty() && runs_.back().tone == tone && runs_.back().link.empty())
      runs_.back().text += text;
    else if (!text.empty())
      runs_.push_back({std::move(text), tone});
    return *this;
  }
  Text& append(const Text& other) {
    for (const TextRun& run : other.runs_) {
      if (run.link.empty())
        add(run.text, run.tone);
      else
        runs_.push_back(run);
    }
    return *this;
  }
  Text& add_link(std::string text, std::string section) {
    runs_.push_back({std::move(text), Tone::plain, std::move(section)});
    return *this;
  }

  [[nodiscard]] const std::vector<TextRun>& runs() const { return runs_; }
  [[nodiscard]] bool empty() const { return runs_.empty(); }
  [[nodiscard]] std::string plain() const {
    std::string all;
    for (const TextRun& run : runs_) all += run.text;
    return all;
  }

 private:
  std::vector<TextRun> runs_;
};

/// What a mark on a track stands for.
enum class MarkKind {
  dot,     ///< one trial
  median,  ///< a vertical line
  range,   ///< a confidence interval
  margin,  ///< what counts as no change
  bar      ///< an amount, from its begin to its end
};
template <>
inline constexpr NameTable<MarkKind, 5> kNameTable<MarkKind> = {{{MarkKind::dot, "dot"},
                                                                 {MarkKind::median, "median"},
                                                                 {MarkKind::range, "range"},
                                                                 {MarkKind::margin, "margin"},
                                                                 {MarkKind::bar, "bar"}}};

/// From 0, the left end of its track, to 1.
struct TrackMark {
  MarkKind kind = MarkKind::bar;
  double from = 0;
  double to = 0;
  std::string variant = {};  // NOLINT(readability-redundant-member-init): whose colour; or by tone
  Tone tone = Tone::plain;
};

/// Numbers drawn on a line: dots of trials, an interval, a bar of a waterfall. Formats of text
/// leave it out: the numbers stand beside it.
struct Track {
  std::vector<TrackMark> marks;
};

/// A stack of calls, of which a table shows the function that explains most.
struct StackCell {
  std::string function;
  std::string location;              ///< "train.py:12"; empty: unknown
  std::vector<std::string> callers;  ///< of the function, innermost first; short
  std::vector<std::string> frames;   ///< whole, outermost first
  std::string flame = {};  // NOLINT(readability-redundant-member-init): id of its flame graph
  std::string view = {};   // NOLINT(readability-redundant-member-init): of that graph
  std::string side = {};   // NOLINT(readability-redundant-member-init): "first", "second", ...
};

struct Cell {
  // NOLINTBEGIN(google-explicit-constructor,readability-redundant-member-init): -Wextra
  Cell() = default;
  Cell(Text shown) : text(std::move(shown)) {}
  Cell(std::string shown) : text(std::move(shown)) {}
  Cell(const char* shown) : text(shown) {}
  Cell(std::string shown, Tone tone) : text(std::move(shown), tone) {}
  // NOLINTEND(google-explicit-constructor,readability-redundant-member-init)

  Text text;
  std::string exact;  ///< without rounding, "86,609,920 bytes"; empty: nothing was rounded
  std::optional<double> value;  ///< the number, for scripts that read the page
  std::string variant;          ///< whose number it is; empty: of no one variant
  std::optional<Track> track;
  std::optional<StackCell> stack;
};

enum class RowKind {
  plain,
  total,
  detail,  ///< goes on with the row above
  group,   ///< names the members below
  member   ///< is indented
};
template <>
inline constexpr NameTable<RowKind, 5> kNameTable<RowKind> = {{{RowKind::plain, ""},
                                                               {RowKind::total, "total"},
                                                               {RowKind::detail, "detail"},
                                                               {RowKind::group, "group"},
                                                               {RowKind::member, "member"}}};

struct Row {
  std::vector<Cell> cells;
  RowKind kind = RowKind::plain;
  std::string key = {};  // NOLINT(readability-redundant-member-init): "b server peak_rss_bytes"
};

/// Which formats show a part or a column.
enum class Medium {
  all,
  text,      ///< a terminal and Markdown
  page,      ///< the page alone
  terminal,  ///< a terminal alone: words about options of the command
  report     ///< Markdown and the page
};

struct Column {
  std::string title;
  bool is_number = false;  ///< aligned at the right
  bool is_filter = false;  ///< the page offers its values as a filter
  Medium medium = Medium::all;

  [[nodiscard]] bool is_in_text() const { return medium != Medium::page; }
};

struct Table {
  std::string caption = {};  // NOLINT(readability-redundant-member-init): -Wextra
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::size_t most_shown = 0;  ///< rows before "N more"; 0: all
  std::string look = {};       // NOLINT(readability-redundant-member-init): a class of the page
  bool has_heading = true;     ///< the columns' titles are shown
};

struct Paragraph {
  Text text;
};
struct List {
  std::vector<Text> items;
};
/// To copy: no format breaks or cuts it.
struct Command {
  std::string command;
};
/// Text as it is, in the lines that it has.
struct Preformatted {
  std::string text;
};
/// A role of a chart by round.
struct ChartRole {
  std::string role;
  std::string label;  ///< "client-3, the largest client"
  std::string peaks;  ///< a sentence: in which round and phase its variants peak; may be empty
};
/// Curves and dots by round and trial, of a role and metric that the reader chooses.
struct RoundsChart {
  std::vector<ChartRole> roles;
};
/// The flame graphs of the run's profiled trials.
struct FlameGraphs {};
/// The numbers as files.
struct Downloads {};

struct Part;

/// Parts behind a title that unfolds them.
struct Fold {
  std::string title;
  std::vector<Part> parts;
  bool is_open = false;
  bool is_long = false;  ///< stays folded on paper
};

struct Option {
  std::string label;
  std::vector<Part> parts;
};
/// One of several groups of parts at a time, in formats that can; the first of them in others.
struct Choice {
  std::string label;
  std::vector<Option> options;
};

using PartValue = std::variant<Paragraph, List, Command, Table, Preformatted, RoundsChart,
                               FlameGraphs, Downloads, Fold, Choice>;

struct Part {
  PartValue value;
  Medium medium = Medium::all;
  /// Where lines are few, parts with a larger one are left out first; 0: never.
  int dispensable = 0;

  [[nodiscard]] bool is_in_terminal() const {
    return medium != Medium::page && medium != Medium::report;
  }
  [[nodiscard]] bool is_in_markdown() const {
    return medium != Medium::page && medium != Medium::terminal;
  }
  [[nodiscard]] bool is_in_page() const {
    return medium != Medium::text && medium != Medium::terminal;
  }
};

struct Section {
  std::string id;     ///< of its element in the page
  std::string title;  ///< on the first screen a label before its parts
  std::vector<Part> parts;

  Section& add(PartValue value, Medium medium = Medium::all, int dispensable = 0) {
    parts.push_back({std::move(value), medium, dispensable});
    return *this;
  }
  [[nodiscard]] bool empty() const { return parts.empty(); }
};

enum class Answer { pass, fail, inconclusive, no_gates, not_measured };
template <>
inline constexpr NameTable<Answer, 5> kNameTable<Answer> = {
    {{Answer::pass, "PASS"},
     {Answer::fail, "FAIL"},
     {Answer::inconclusive, "INCONCLUSIVE"},
     {Answer::no_gates, "NO GATES"},
     {Answer::not_measured, "NOT MEASURED"}}};

/// A variant and what makes it different, as its config states it.
struct ComparedVariant {
  std::string name;
  std::string words;  ///< "./server --new", "preset appfl-optimized: cleanup=trim"
  bool is_baseline = false;
};

/// A gate, for formats that list checks.
struct Check {
  enum class Status { passed, failed, inconclusive, not_measured };
  std::string variant;
  std::string name;
  Status status = Status::passed;
  bool advisory = false;
  int exit_code = 0;      ///< that it asks for
  std::string message;    ///< with its numbers
  std::string file = {};  // NOLINT(readability-redundant-member-init): of the largest cause
  int line = 0;           ///< 0: unknown
};

struct ReportDocument {
  std::string title;    ///< "Peak memory: b vs. a (baseline)"
  std::string name;     ///< of the run
  std::string setting;  ///< "8 trials each, 2026-11-28, 2 cores, 23.5 GiB"
  std::string notice;   ///< of a run that goes on or was cut off; else empty
  Answer answer = Answer::no_gates;
  Text sentence;  ///< the result with its numbers
  Text exit;      ///< the exit code and what it came from
  std::vector<ComparedVariant> compared;
  std::vector<Section> first_screen;
  std::vector<Section> details;
  std::vector<Check> checks;
  std::string reproduce;  ///< a command line
};

struct ReportModel;

/// Pure: reads nothing but the model.
ReportDocument document_of(const ReportModel& model);

/// What colour the answer has.
Tone tone_of(Answer answer);

}  // namespace memduel
