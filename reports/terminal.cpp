#include "reports/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "escape.h"
#include "model/run_data.h"
#include "terminal_tables.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

/// What a line is about, the least important last: these go first where lines are short.
enum class Weight {
  title,
  overall,
  failure,
  verdict,
  next_step,
  arm,
  cause,
  answer,
  undecided,
  unsettled,
  warning,
  table,
  limitation
};

struct Piece {
  Weight weight;
  std::string text;    ///< one line or several, each ended
  bool opens = false;  ///< a blank line stands before it

  [[nodiscard]] int lines() const {
    return static_cast<int>(std::ranges::count(text, '\n')) + (opens ? 1 : 0);
  }
};

constexpr int kTableColumns = 80;

/// Leaves out what weighs least until the rest has at most so many lines. Whether something had to
/// go.
bool cut_pieces(std::vector<Piece>& pieces, int lines) {
  bool cut = false;
  const auto total = [&] {
    int sum = 0;
    for (const Piece& piece : pieces) sum += piece.lines();
    return sum;
  };
  while (total() > lines && pieces.size() > 1) {
    auto least = pieces.begin();
    for (auto piece = pieces.begin(); piece != pieces.end(); ++piece)
      if (piece->weight >= least->weight) least = piece;
    pieces.erase(least);
    cut = true;
  }
  return cut;
}

/// ": optimized against original".
std::string arms_in_a_line(const Results& results) {
  std::string candidates;
  for (const ArmSummary& arm : results.arms)
    if (!arm.ablation && arm.name != results.baseline)
      candidates += (candidates.empty() ? "" : ", ") + arm.name;
  if (candidates.empty()) return {};
  return escape_terminal(fmt::format(": {} against {}", candidates, results.baseline));
}

Weight weight_of(const SideEffect& effect) {
  if (effect.gate && effect.gate->exit_code != 0) return Weight::failure;
  return effect.verdict == Verdict::inconclusive ? Weight::unsettled : Weight::answer;
}

class TerminalReport {
 public:
  TerminalReport(const ReportModel& model, const TerminalOptions& options)
      : model_(model), options_(options) {}

  std::string within(int lines) {
    add_first_screen();
    if (options_.width >= kTableColumns) add_table();
    add_notes(true);
    const bool cut = cut_pieces(pieces_, lines - 1);
    const bool more = !model_.results.comparisons.empty() || !model_.results.limitations.empty();
    return text() + (cut || more ? "Every table and note: --verbose.\n" : "");
  }

  std::string whole() {
    add_first_screen();
    add_table();
    for (std::string& section :
         std::vector{render_resident(model_, options_), render_differences(model_, options_),
                     render_parts(model_, options_), render_rounds(model_),
                     render_ablation(model_, options_), render_profiles(model_, options_)})
      add(Weight::table, std::move(section));
    add_notes(false);
    return text();
  }

 private:
  void add_first_screen() {
    add_title();
    add_verdicts();
    add_answers();
    add_causes();
    add_next_step();
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    for (const Piece& piece : pieces_) out += (piece.opens ? "\n" : "") + piece.text;
    return out;
  }

  [[nodiscard]] std::string sentence(const std::string& text) const {
    return wrapped("• " + escape_terminal(text), 2, options_.width);
  }

  void add(Weight weight, std::string text, bool opens = false) {
    if (!text.empty()) pieces_.push_back({weight, std::move(text), opens});
  }

  void add_title() {
    const std::string arms = model_.compared.empty() ? arms_in_a_line(model_.results) : "";
    const std::string title = fmt::format("{}{} · {}", escape_terminal(model_.title), arms,
                                          escape_terminal(model_.setting));
    const std::string lines = wrapped(title, 2, options_.width);
    add(Weight::title, painted(lines.substr(0, lines.size() - 1), "\033[1m", options_) + "\n");
    std::size_t widest = 0;
    for (const ComparedArm& arm : model_.compared)
      widest = std::max(widest, count_characters(escape_terminal(arm.name)));
    widest = std::min<std::size_t>(widest, 20);
    for (const ComparedArm& arm : model_.compared) add(Weight::arm, arm_line(arm, widest));
    if (!model_.progress.empty()) add(Weight::title, wrapped(model_.progress, 0, options_.width));
  }

  /// Cut where it is longer: the whole command is in the report.
  [[nodiscard]] std::string arm_line(const ComparedArm& arm, std::size_t widest) const {
    const std::string text =
        "  " + padded(escape_terminal(arm.name), widest, false) + "  " + escape_terminal(arm.words);
    const auto width = static_cast<std::size_t>(options_.width);
    return (count_characters(text) > width ? padded(text, width, false) : text) + "\n";
  }

  void add_verdicts() {
    if (!model_.overall.empty())
      add(Weight::overall, wrapped(escape_terminal(model_.overall), 0, options_.width), true);
    if (!model_.best.empty()) add(Weight::verdict, sentence(model_.best.text()));
    std::string before;
    for (const Headline& headline : model_.headlines) {
      std::string lines = headline_lines(headline, options_);
      if (lines == before) continue;  // of a candidate that died, whatever was asked
      before = lines;
      const bool of_first = headline.candidate == model_.headlines.front().candidate;
      const bool told = of_first || headline.verdict != Verdict::inconclusive;
      add(headline.fails ? Weight::failure
          : told         ? Weight::verdict
                         : Weight::undecided,
          std::move(lines));
    }
  }

  void add_answers() {
    for (const std::string& one : model_.ablation) add(Weight::answer, sentence(one));
    for (const Sentence& growth : model_.growth) add(Weight::answer, sentence(growth.text()));
    for (const SideEffect& effect : model_.side_effects)
      add(weight_of(effect), sentence(with_minus(effect.sentence)));
    for (const std::string& bound : model_.lower_bounds) add(Weight::unsettled, sentence(bound));
  }

  void add_causes() {
    std::string of;
    for (const Cause& cause : model_.causes) {
      const bool first = cause.of != of || &cause == &model_.causes.front();
      of = cause.of;
      const VerdictLook look =
          look_of(cause.more ? Verdict::regressed : Verdict::improved, cause.more);
      const std::string name = escape_terminal(cause.name);
      constexpr std::size_t kAmount = 12;
      const auto room = static_cast<std::size_t>(options_.width) - kAmount - 6;
      add(Weight::cause,
          (first ? wrapped(escape_terminal("What changed most in " + of + ":"), 2, options_.width)
                 : "") +
              "  " +
              painted(fmt::format("{} {}", look.sign, padded(cause.amount, kAmount, true)),
                      look.color, options_) +
              "  " + (count_characters(name) > room ? padded(name, room, false) : name) + "\n",
          &cause == &model_.causes.front());
    }
  }

  /// Its command is to be copied: it stands on a line of its own, which is not broken.
  void add_next_step() {
    if (!model_.next_step) return;
    const std::string& command = model_.next_step->command;
    add(Weight::next_step,
        wrapped(escape_terminal(model_.next_step->sentence), 0, options_.width) +
            (command.empty() ? "" : "  " + escape_terminal(command) + "\n"),
        true);
  }

  /// Whole, or not at all.
  void add_table() {
    if (!model_.results.comparisons.empty()) add(Weight::table, render_table(model_, options_));
  }

  /// Short: without the last lines of logs, which come after the first line of a message.
  void add_notes(bool are_short) {
    bool opens = true;
    const auto add_all = [&](Weight weight, const char* kind, const std::vector<Note>& notes) {
      for (Note note : notes) {
        if (are_short && note.code == kSampledLessOften) continue;
        if (are_short) note.message.erase(std::min(note.message.find('\n'), note.message.size()));
        add(weight, note_lines(kind, note, options_.width), opens);
        opens = false;
      }
    };
    add_all(Weight::warning, "Warning", model_.results.warnings);
    add_all(Weight::limitation, "Limitation", model_.results.limitations);
  }

  const ReportModel& model_;
  const TerminalOptions& options_;
  std::vector<Piece> pieces_;
};

}  // namespace

std::string render_summary(const ReportModel& model, const TerminalOptions& options, int lines) {
  return TerminalReport(model, options).within(lines);
}

std::string render_terminal(const ReportModel& model, const TerminalOptions& options) {
  return TerminalReport(model, options).whole();
}

}  // namespace memduel
