#include "reports/formats/terminal_ablation.h"

#include <fmt/format.h>

#include <cmath>

#include "base/characters.h"
#include "base/text.h"
#include "reports/formats/terminal_text.h"
#include "reports/tables/ablation_tables.h"
#include "reports/tables/words.h"

namespace memduel {
namespace {

constexpr size_t kNameWidth = 17;
constexpr size_t kAmountWidth = 12;
constexpr size_t kChangeWidth = 10;
constexpr size_t kCellWidth = kAmountWidth + kChangeWidth + 2;  // and a sign
constexpr size_t kSavingsOfPhase = 3;

/// Without the unit of rounds, which the metric's name already says.
std::string amount(const std::string& metric, std::optional<double> value) {
  if (!value) return "-";
  const std::string text = format_metric(metric, std::abs(*value));
  return (*value < 0 ? "-" : "+") + text.substr(0, text.find('/'));
}

std::string change(const AblationCell& cell) {
  return cell.ratio ? format_change(*cell.ratio) : "";
}

std::string cell_text(const AblationCell& cell, const std::string& metric,
                      const TerminalOptions& options) {
  if (!cell.arm) return right(cell.idle ? "no effect here" : "not possible", kCellWidth);
  const VerdictLook look = look_of(cell.verdict, cell.difference.value_or(1) > 0);
  return right(amount(metric, cell.difference), kAmountWidth) + right(change(cell), kChangeWidth) +
         " " + painted(look.sign, look.color, options);
}

std::string sums_line(const char* name, const std::string& metric, std::optional<double> added,
                      std::optional<double> left_out) {
  return left(name, kNameWidth) + right(amount(metric, added), kAmountWidth) +
         std::string(kCellWidth - kAmountWidth, ' ') +
         right(amount(metric, left_out), kAmountWidth) + "\n";
}

std::optional<double> negative(std::optional<double> value) {
  return value ? std::optional(-*value) : std::nullopt;
}

/// The right half is in the sense of its cells: what leaving out adds.
std::string sums(const AblationTotal& total) {
  return sums_line(kAllOfThem, total.metric, total.whole.difference,
                   negative(total.whole.difference)) +
         sums_line(kSumOfTheAbove, total.metric, total.added_alone.sum,
                   negative(total.left_out.sum)) +
         sums_line(kInteraction, total.metric, total.added_alone.remainder,
                   negative(total.left_out.remainder));
}

std::string table_text(const AblationTable& table, const TerminalOptions& options) {
  const AblationTotal& total = *table.total;
  const AblationCell& whole = total.whole;
  std::string out =
      "\n" + wrapped(fmt::format("{} {}: {} {}, {} {}", escape_terminal(total.role),
                                 escape_terminal(total.metric), escape_terminal(whole.reference),
                                 format_metric(total.metric, whole.reference_median),
                                 escape_terminal(whole.arm.value_or("-")),
                                 format_metric(total.metric, whole.median)),
                     2, options.width);
  out += left("switch", kNameWidth) + right("added to " + whole.reference, kCellWidth) +
         right("left out of " + whole.arm.value_or("-"), kCellWidth) + " effect\n";
  for (const AblationRow& row : table.rows)
    out += left(row.optimization, kNameWidth) + cell_text(row.added_alone, row.metric, options) +
           cell_text(row.left_out, row.metric, options) + " " + word(row.effect) + "\n";
  return out + sums(total);
}

/// "server upload, -300.0 MiB in all: framing -120.0 MiB alone, +43.0 MiB left out; …".
std::string phase_text(const AblationTable& table, int width) {
  const AblationTotal& total = *table.total;
  std::string text = fmt::format("{} {}, {} in all", total.role, *total.phase,
                                 amount(total.metric, total.whole.difference));
  size_t shown = 0;
  for (const AblationRow& row : table.rows) {
    const bool saves = row.effect == SwitchEffect::saves || row.effect == SwitchEffect::mixed;
    if (!saves || shown == kSavingsOfPhase) continue;
    text += (shown == 0 ? ": " : "; ") + row.optimization;
    if (row.added_alone.difference)
      text += fmt::format(" {} alone", amount(row.metric, row.added_alone.difference));
    if (row.left_out.difference)
      text += fmt::format("{} {} left out", row.added_alone.difference ? "," : "",
                          amount(row.metric, row.left_out.difference));
    ++shown;
  }
  if (shown == 0) text += ": no switch is shown to save anything";
  return wrapped("• " + escape_terminal(text), 2, width);
}

}  // namespace

std::string render_ablation(const ReportModel& model, const TerminalOptions& options) {
  const std::vector<AblationTable> tables = ablation_tables(model.results);
  if (tables.empty()) return {};
  std::string out = "\nAblation: every switch added alone, and left out\n";
  for (const AblationTable& table : tables)
    if (!table.total->phase) out += table_text(table, options);
  std::string phases;
  for (const AblationTable& table : tables)
    if (table.total->phase && table.total->whole.difference)
      phases += phase_text(table, options.width);
  if (!phases.empty())
    out += "\nBy phase, the largest savings (all are in the HTML report)\n" + phases;
  return out;
}

}  // namespace memduel
