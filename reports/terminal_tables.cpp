#include "terminal_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "ablation_tables.h"
#include "escape.h"
#include "model/metric_catalogue.h"
#include "reports/terminal.h"
#include "util/text.h"
#include "verdict/questions.h"
#include "words.h"

namespace memduel {
namespace {

bool same_numbers(const Comparison& a, const Comparison& b) {
  return a.baseline_median == b.baseline_median && a.candidate_median == b.candidate_median &&
         a.ratio == b.ratio && a.difference == b.difference && a.p_value == b.p_value;
}

}  // namespace

bool repeats_the_job(const Comparison& row, const std::vector<Comparison>& rows) {
  const bool is_job = row.role == kTree;
  return std::ranges::any_of(rows, [&](const Comparison& other) {
    if (other.candidate != row.candidate || other.metric != row.metric) return false;
    if ((other.role == kTree) == is_job || !same_numbers(row, other)) return false;
    return row.is_asked() == other.is_asked() ? !is_job : other.is_asked();
  });
}

namespace {

/// Roles that are benchmarks of Google Benchmark.
std::set<std::string> benchmarks_in(const std::vector<Comparison>& rows) {
  std::set<std::string> roles;
  for (const Comparison& c : rows)
    if (c.metric == kRealTimeSeconds) roles.insert(c.role);
  return roles;
}

bool is_on_first_screen(const Results& results, const Comparison& c) {
  return std::ranges::any_of(results.first_screen.rows, [&](const ShownRow& shown) {
    return shown.candidate == c.candidate && shown.role == c.role && shown.metric == c.metric;
  });
}

/// A group's largest says what counts about it, so its median stays in the HTML report.
bool is_key_row(const Results& results, const Comparison& c,
                const std::set<std::string>& benchmarks) {
  if (is_on_first_screen(results, c)) return true;
  if (is_median_of_group(results.job, c.role) && !c.is_asked()) return false;
  if (c.metric == kAllocationCount && benchmarks.contains(c.role)) return true;
  return c.is_asked() || metric_info(c.metric).is_key;
}

/// Without the unit of time or rounds, which the metric's name already says.
std::string value_of(const std::string& metric, std::optional<double> value) {
  const std::string text = format_metric(metric, value);
  return with_minus(text.substr(0, text.find('/')));
}

std::string change_of(const Comparison& c) {
  if (c.ratio) return with_minus(format_change(*c.ratio));
  if (!c.difference) return "-";
  return (*c.difference < 0 ? "−" : "+") + value_of(c.metric, std::abs(*c.difference));
}

constexpr std::size_t kRoleWidth = 10;

/// 10 + 26 + 10 + 10 + 11 + 1 + 12 columns.
std::string table_line(const std::string& role, const std::string& metric,
                       const std::string& baseline, const std::string& candidate,
                       const std::string& change) {
  return left(role, kRoleWidth) + padded(escape_terminal(metric), 26, false) + right(baseline, 10) +
         right(candidate, 10) + right(change, 11) + " ";
}

/// Whether a reader who divides the medians gets another change than the one that was decided.
bool differs_from_medians(const Comparison& row) {
  constexpr double kVisible = 0.01;
  return row.verdict != Verdict::inconclusive && row.ratio && row.baseline_median &&
         row.candidate_median && *row.baseline_median > 0 &&
         std::abs(*row.ratio - *row.candidate_median / *row.baseline_median) > kVisible;
}

std::vector<std::string> roles_with_rounds(const Results& results) {
  std::vector<std::string> roles;
  for (const TrialData& trial : results.trials)
    for (const RoleData& role : trial.roles)
      if (!role.rounds.empty() && std::ranges::find(roles, role.role) == roles.end())
        roles.push_back(role.role);
  return roles;
}

}  // namespace

std::string headline_lines(const Headline& headline, const TerminalOptions& options) {
  const VerdictLook look = look_of(headline.verdict, headline.more);
  const std::string gate = headline.gate.empty() ? "" : fmt::format(" [{}]", headline.gate);
  const std::string lines =
      wrapped(fmt::format("{} {}{}", look.sign, escape_terminal(headline.sentence.text()), gate), 2,
              options.width);
  return painted(lines.substr(0, lines.size() - 1), look.color, options) + "\n";
}

std::string note_lines(const char* kind, const Note& note, int width) {
  const std::size_t end = std::min(note.advice.find('\n'), note.advice.size());
  const std::string advice = end == 0 ? "" : "; advice: " + note.advice.substr(0, end);
  const std::string command = end == note.advice.size() ? "" : note.advice.substr(end + 1) + "\n";
  return wrapped(fmt::format("{}: {}", kind, escape_terminal(note.message + advice)), 2, width) +
         escape_terminal_lines(command);
}

std::string render_table(const ReportModel& model, const TerminalOptions& options) {
  std::string out;
  std::string candidate;
  std::string named;  // the role that stands on a line of its own above
  size_t hidden = 0;
  bool any_differs = false;
  const auto& rows = model.results.comparisons;
  const std::set<std::string> benchmarks = benchmarks_in(rows);
  const auto is_key = [&](const Comparison& c) { return is_key_row(model.results, c, benchmarks); };
  const bool any_key_row = std::ranges::any_of(rows, is_key);
  for (const Comparison& c : rows) {
    const bool is_told_by_the_job =
        repeats_the_job(c, rows) && !is_on_first_screen(model.results, c);
    if ((any_key_row && !is_key(c)) || is_told_by_the_job || !c.has_values()) {
      ++hidden;
      continue;
    }
    if (c.candidate != candidate) {
      candidate = c.candidate;
      out += '\n' + table_line("role", "metric", c.baseline, candidate, "change") + "verdict\n";
      named.clear();
    }
    any_differs = any_differs || differs_from_medians(c);
    const bool fits = count_characters(escape_terminal(c.role)) < kRoleWidth;
    if (!fits && c.role != named) out += escape_terminal(c.role) + "\n";
    named = c.role;
    out +=
        table_line(fits ? c.role : "", c.metric, value_of(c.metric, c.baseline_median),
                   value_of(c.metric, c.candidate_median), change_of(c)) +
        painted(std::string(to_name(c.verdict)), look_of(c.verdict, c.has_more()).color, options) +
        "\n";
  }
  if (any_differs) out += "The change is the median of all differences between trials.\n";
  if (hidden > 0)
    out += format_count(hidden, "more row is", "more rows are") + " in the HTML report.\n";
  return out;
}

std::string render_rounds(const ReportModel& model) {
  std::string out;
  bool any_course = false;  // a single round has no course to show
  using Arms = std::vector<std::pair<std::string, std::vector<double>>>;
  std::vector<Arms> told;  // a job of one process has its curves
  for (const std::string& role : roles_with_rounds(model.results)) {
    Arms arms;
    double low = 0;
    double high = 0;
    for (const ArmSummary& arm : model.results.arms) {
      if (arm.ablation) continue;
      std::vector<double> peaks = round_peaks(model.results, arm.name, role);
      if (peaks.empty()) continue;
      const auto [least, most] = std::ranges::minmax_element(peaks);
      low = arms.empty() ? *least : std::min(low, *least);
      high = std::max(high, *most);
      arms.emplace_back(arm.name, thinned(peaks, 30));
    }
    if (role == kTree && std::ranges::find(told, arms) != told.end()) continue;
    told.push_back(arms);
    for (const auto& [arm, peaks] : arms) {
      const auto [least, most] = std::ranges::minmax_element(peaks);
      any_course = any_course || peaks.size() > 1;
      out += padded(escape_terminal(role), 12, false) + " " +
             padded(escape_terminal(arm), 12, false) + " " +
             padded(sparkline(peaks, low, high), std::max<size_t>(peaks.size(), 8), false) + "  " +
             format_interval(format_bytes(*least), format_bytes(*most)) + "\n";
    }
  }
  return !any_course ? "" : "\nPeak RSS by round, median of the trials\n" + out;
}

std::string render_profiles(const ReportModel& model, const TerminalOptions& options) {
  constexpr size_t kMostCommands = 6;
  const ProfileList& list = model.profiles;
  if (list.commands.empty() && list.sentences.empty()) return {};
  std::string out = "\nProfiles, in the run's directory and outside the statistics\n";
  for (const std::string& sentence : list.sentences)
    out += wrapped("• " + escape_terminal(sentence), 2, options.width);
  for (size_t i = 0; i < list.commands.size() && i < kMostCommands; ++i)
    out += "  " + escape_terminal(list.commands[i]) + "\n";
  if (list.commands.size() > kMostCommands)
    out += fmt::format("  and {} more in the HTML report\n", list.commands.size() - kMostCommands);
  return out;
}

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

namespace {

constexpr int kNameColumns = 15;
constexpr int kBytesColumns = 10;
constexpr int kChangeColumns = 9;

std::string bytes_of(const PartPeak& part, std::size_t arm) {
  return right(part.bytes[arm] ? format_bytes(*part.bytes[arm]) : "-", kBytesColumns);
}

std::string table_of(const PartPeaks& peaks, std::size_t arms) {
  std::string out = left(peaks.role, kNameColumns) + right(peaks.arms[0], kBytesColumns);
  for (std::size_t arm = 1; arm < arms; ++arm)
    out += right(peaks.arms[arm], kBytesColumns + kChangeColumns);
  out += "\n";
  for (const PartPeak& part : peaks.parts) {
    out += left(part.name, kNameColumns) + bytes_of(part, 0);
    for (std::size_t arm = 1; arm < arms; ++arm) {
      const auto ratio = part.ratio(arm);
      out += bytes_of(part, arm) +
             right(ratio ? with_minus(format_change(*ratio)) : "", kChangeColumns);
    }
    out += "\n";
  }
  return out;
}

}  // namespace

std::string render_parts(const ReportModel& model, const TerminalOptions& options) {
  if (model.part_peaks.empty()) return {};
  std::string out = "\nPeak by part\n";
  const int candidates =
      (options.width - kNameColumns - kBytesColumns) / (kBytesColumns + kChangeColumns);
  std::size_t most = 0;
  for (const PartPeaks& peaks : model.part_peaks) {
    const std::size_t arms =
        std::min<std::size_t>(peaks.arms.size(), 1 + static_cast<std::size_t>(candidates));
    out += table_of(peaks, arms);
    most = std::max(most, peaks.arms.size() - arms);
  }
  out += wrapped(kPartPeaksRemark, 0, options.width);
  if (most > 0) out += fmt::format("{} more arms are in the HTML report.\n", most);
  return out;
}

}  // namespace memduel
