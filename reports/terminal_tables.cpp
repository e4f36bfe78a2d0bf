#include "reports/formats/terminal_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "analysis/questions/round_peaks.h"
#include "base/characters.h"
#include "base/metric_catalogue.h"
#include "base/text.h"
#include "reports/formats/terminal_text.h"
#include "reports/tables/repeated_rows.h"
#include "reports/tables/sparkline.h"
#include "reports/tables/words.h"

namespace memduel {
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

}  // namespace memduel
