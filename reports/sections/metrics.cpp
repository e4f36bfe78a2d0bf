// Every comparison as a row: medians, change, interval against the margin, verdict and reason.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "model/metric_catalogue.h"
#include "sections/repeated_rows.h"
#include "sections/sections.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

constexpr std::size_t kMostMetrics = 300;

/// The interval over the margin around "no change", which is in the middle.
Cell interval_track(const Comparison& row) {
  Cell cell(interval_text(row));
  if (!row.ci_low || !row.ci_high) return cell;
  const double none = row.ratio ? 1 : 0;
  const std::optional<double> middle = row.ratio ? row.ratio : row.difference;
  constexpr double kRoom = 1.15;
  double reach =
      std::max({std::abs(*row.ci_low - none), std::abs(*row.ci_high - none), row.margin * 1.5}) *
      kRoom;
  if (reach <= 0) reach = 1;
  const auto place = [&](double value) {
    return std::clamp(0.5 + (value - none) / reach / 2, 0.0, 1.0);
  };
  Track track;
  track.marks.push_back({MarkKind::margin, place(none - row.margin), place(none + row.margin)});
  track.marks.push_back(
      {MarkKind::range, place(*row.ci_low), place(*row.ci_high), "", tone_of(row.verdict)});
  if (middle)
    track.marks.push_back(
        {MarkKind::median, place(*middle), place(*middle), "", tone_of(row.verdict)});
  cell.track = std::move(track);
  return cell;
}

Cell value_cell(const Comparison& row, std::optional<double> value, const std::string& variant) {
  Cell cell(value_text(row.metric, value));
  cell.exact = exact_text(row.metric, value);
  cell.value = value;
  cell.variant = variant;
  return cell;
}

/// What of a change this many trials can detect.
Cell detectable_cell(const Comparison& row) {
  if (!row.minimum_detectable) return {"–"};
  return {row.ratio ? format_size(row.metric, *row.minimum_detectable, row.baseline_median)
                    : value_text(row.metric, row.minimum_detectable)};
}

Cell reason_cell(const Comparison& row) {
  Text text(with_minus(row.reason));
  if (row.blocks_needed)
    text.add(fmt::format("; about {} each should decide it",
                         format_count(static_cast<std::size_t>(*row.blocks_needed), "trial")));
  std::string p = row.p_value ? fmt::format("; p = {:.2g}", *row.p_value) : "";
  if (row.p_adjusted) p += fmt::format(", adjusted {:.2g}", *row.p_adjusted);
  return {text.add(p, Tone::muted)};
}

Cell verdict_cell(const Comparison& row) {
  const bool is_strong = row.tier == Tier::strong &&
                         (row.verdict == Verdict::improved || row.verdict == Verdict::regressed);
  Cell cell(std::string(to_name(row.verdict)), tone_of(row.verdict));
  if (is_strong) cell.exact = "strong: the whole interval is beyond the margin";
  return cell;
}

/// Those that a text has room for: what gates judge, the first screen shows, or counts everywhere.
bool is_key_row(const Results& results, const Comparison& row) {
  const bool is_shown = std::ranges::any_of(results.first_screen.rows, [&](const ShownRow& one) {
    return one.candidate == row.candidate && one.role == row.role && one.metric == row.metric;
  });
  if (is_shown || row.is_asked()) return true;
  if (is_median_of_group(results.job, row.role)) return false;
  return metric_info(row.metric).is_key;
}

/// The page has the role apart, as a filter; a text has no room for that.
std::vector<Column> columns_of(const std::string& baseline, const std::string& candidate,
                               bool is_page) {
  std::vector<Column> columns;
  if (is_page) columns.push_back({"role", false, true});
  columns.insert(
      columns.end(),
      {{"metric"}, {baseline, true}, {candidate, true}, {"change", true}, {"95% CI", !is_page}});
  if (is_page) columns.push_back({"MDE", true});
  columns.push_back({"verdict", false, is_page});
  if (is_page) columns.push_back({"reason"});
  return columns;
}

/// With the name of the only role if all processes together have other numbers.
std::string name_in_text(const Results& results, const Comparison& row) {
  const Comparison* whole = results.row(row.candidate, kTree, row.metric);
  const bool is_ambiguous = is_only_role(results.job, row.role) && row.role != kTree &&
                            whole != nullptr && whole->has_values() &&
                            !is_repeated(results, *whole);
  return is_ambiguous
             ? role_words(results.job, row.role) + " " + metric_words(results.job, row.metric)
             : quantity(results.job, row.role, row.metric);
}

Row metric_row(const Results& results, const Comparison& row, bool is_page) {
  Row line;
  line.key = row.candidate + " " + row.role + " " + row.metric;
  if (is_page) line.cells.emplace_back(role_words(results.job, row.role));
  Cell name(is_page ? metric_words(results.job, row.metric) : name_in_text(results, row));
  if (row.is_asked()) name.text.add(" (gate)", Tone::muted);
  name.exact = row.metric;
  line.cells.push_back(std::move(name));
  line.cells.push_back(value_cell(row, row.baseline_median, row.baseline));
  line.cells.push_back(value_cell(row, row.candidate_median, row.candidate));
  Cell change(change_text(row), tone_of(row.verdict));
  change.value = shown_change(row);
  line.cells.push_back(std::move(change));
  line.cells.push_back(is_page ? interval_track(row) : Cell(interval_text(row)));
  if (is_page) line.cells.push_back(detectable_cell(row));
  line.cells.push_back(verdict_cell(row));
  if (is_page) line.cells.push_back(reason_cell(row));
  return line;
}

std::vector<std::string> candidates_of(const Results& results) {
  std::vector<std::string> names;
  for (const Comparison& row : results.comparisons)
    if (std::ranges::find(names, row.candidate) == names.end()) names.push_back(row.candidate);
  return names;
}

Table table_of(const Results& results, const std::string& candidate, bool is_page) {
  Table table;
  table.look = "metrics";
  table.most_shown = is_page ? kMostMetrics : 0;
  std::string baseline = results.baseline;
  for (const Comparison& row : results.comparisons) {
    if (row.candidate != candidate || !row.has_values() || is_repeated(results, row)) continue;
    baseline = row.baseline;
    if (is_page || is_key_row(results, row))
      table.rows.push_back(metric_row(results, row, is_page));
  }
  table.caption = candidate + " vs. " + baseline + " (baseline)";
  table.columns = columns_of(baseline, candidate, is_page);
  return table;
}

}  // namespace

Section metrics_section(const ReportModel& model) {
  Section section{"metrics", "All metrics", {}};
  const Results& results = model.results;
  if (results.comparisons.empty()) return section;
  Fold fold{"", {}, false, true};
  fold.parts.push_back({Paragraph{
      Text("Gates judge the rows marked “gate”; their p values are adjusted for the number "
           "of these rows, all others for false discoveries (Benjamini–Hochberg). The "
           "shaded band is the margin: a change inside it counts as none. MDE: the minimum "
           "detectable effect, a change that these trials find with 80% probability.",
           Tone::muted)}});
  std::size_t shown = 0;
  std::size_t all = 0;
  for (const std::string& candidate : candidates_of(results)) {
    Table table = table_of(results, candidate, true);
    all += table.rows.size();
    if (!table.rows.empty()) fold.parts.push_back({std::move(table)});
    if (table = table_of(results, candidate, false); !table.rows.empty()) {
      shown += table.rows.size();
      section.add(std::move(table), Medium::text);
    }
  }
  fold.title =
      fmt::format("{} with interval, margin, verdict and reason", format_count(all, "comparison"));
  if (shown < all)
    section.add(
        Paragraph{Text(fmt::format("{} in the HTML report.",
                                   format_count(all - shown, "more row is", "more rows are")),
                       Tone::muted)},
        Medium::text);
  section.add(std::move(fold), Medium::page);
  return section;
}

}  // namespace memduel
