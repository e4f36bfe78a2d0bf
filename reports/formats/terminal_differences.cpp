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
  const VerdictLook look = look_of(row.more ? Verdict::regressed : Verdict::improved, row.more);
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

std::string render_resident(const ReportModel& model, const TerminalOptions& options) {
  if (model.resident.empty()) return {};
  constexpr size_t kAmount = 14;
  const ResidentTable& table = model.resident.front();
  std::string out = "\n" + wrapped("Resident memory near the peak, " + escape_terminal(table.title),
                                   2, options.width);
  for (const WaterfallStep& step : table.steps) {
    const VerdictLook look =
        look_of(step.size > 0 ? Verdict::regressed : Verdict::improved, step.size > 0);
    const std::string name = escape_terminal(step.words);
    const auto room = static_cast<size_t>(options.width) - kAmount - 4;
    out += "  " +
           painted(fmt::format("{} {}", look.sign, padded(step.amount, kAmount - 2, true)),
                   look.color, options) +
           "  " + (count_characters(name) > room ? padded(name, room, false) : name) + "\n";
  }
  for (const std::string& remark : table.remarks)
    out += wrapped("From profile trials; " + escape_terminal(remark) + ".", 2, options.width);
  return out;
}

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
