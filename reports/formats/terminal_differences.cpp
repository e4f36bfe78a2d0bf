#include "reports/formats/terminal_differences.h"

#include <fmt/format.h>

#include "base/characters.h"
#include "reports/formats/terminal_text.h"

namespace memduel {
namespace {

constexpr size_t kShownStacks = 5;
constexpr size_t kShownCallers = 3;
constexpr size_t kStackIndent = 6;

/// One line, cut where it is too long: names of templates can fill a screen.
std::string cut_line(const std::string& text, int width) {
  const size_t room = static_cast<size_t>(width) - kStackIndent;
  const std::string safe = escape_terminal(text);
  return std::string(kStackIndent, ' ') +
         (count_characters(safe) > room ? padded(safe, room, false) : safe) + "\n";
}

std::string stack_lines(const DifferenceRow& row, const TerminalOptions& options) {
  const std::string phase = row.phase.empty() ? "" : ", phase " + escape_terminal(row.phase);
  const VerdictLook look = look_of(row.more ? Verdict::regressed : Verdict::improved);
  std::string out =
      "  " +
      painted(fmt::format("{} {}, {} of what differs{}", look.sign, row.amount, row.share, phase),
              look.color, options) +
      "\n" + cut_line(row.function, options.width);
  std::string callers;
  for (size_t i = 0; i < row.callers.size() && i < kShownCallers; ++i)
    callers += (i == 0 ? "called by " : ", ") + row.callers[i];
  return callers.empty() ? out : out + cut_line(callers, options.width);
}

}  // namespace

std::string render_differences(const ReportModel& model, const TerminalOptions& options) {
  std::string out;
  for (const DifferenceTable& table : model.differences) {
    out += "\n" + wrapped("Where: " + escape_terminal(table.title), 2, options.width);
    for (size_t i = 0; i < table.rows.size() && i < kShownStacks; ++i)
      out += stack_lines(table.rows[i], options);
    out += wrapped("From profile trials; " + escape_terminal(table.remark) + ".", 2, options.width);
  }
  return out;
}

}  // namespace memduel
