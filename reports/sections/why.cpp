// The largest causes of the changes, as profiles explain them.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "focus.h"
#include "model/metric_catalogue.h"
#include "reports/memory_tables.h"
#include "sections/open_row.h"
#include "sections/sections.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

/// Of the largest cause of a row: less is no reason.
constexpr double kLeastShown = 0.04;
constexpr double kAll = 0.985;
constexpr double kMoreThanAll = 1.015;

Row cause_row(const ReportModel& model, const Cause& cause, bool is_first, bool has_shares) {
  const bool is_alone = model.results.is_alone();
  const bool are_several = model.results.arms.size() > 2;
  Row row;
  row.cells.push_back({cause.amount, is_alone     ? Tone::strong
                                     : cause.more ? Tone::bad
                                                  : Tone::good});
  row.cells.back().value = cause.size;
  Text where =
      with_location((cause.role.empty() ? "" : cause.role + ": ") + cause.name, cause.location);
  if (cause.share > 0 && has_shares)
    where.add(
        ", " +
            (cause.share > kMoreThanAll && !is_alone ? "more than all"
             : cause.share > kAll                    ? "all"
                                                     : format_percent(cause.share)) +
            (!cause.role.empty() ? " of its change" + (are_several ? " in " + cause.candidate : "")
             : !is_first         ? ""
             : is_alone          ? " of " + cause.of
                                 : " of the change of " + cause.of),
        Tone::muted);
  row.cells.emplace_back(std::move(where));
  return row;
}

/// The causes of each row, without those that are small beside its largest.
std::vector<std::vector<Cause>> causes_by_row(const std::vector<Cause>& all) {
  std::vector<std::vector<Cause>> rows;
  for (const Cause& cause : all) {
    if (rows.empty() || rows.back().front().of != cause.of) rows.emplace_back();
    std::vector<Cause>& row = rows.back();
    if (row.empty() || std::abs(cause.size) >= kLeastShown * std::abs(row.front().size))
      row.push_back(cause);
  }
  return rows;
}

/// "+5.30 MiB server: all other memory": what the causes of a row of bytes leave of its change;
/// absent if it is small.
std::optional<Row> rest_row(const std::vector<Cause>& causes) {
  constexpr double kLeastRest = 0.05;
  const auto partial =
      std::ranges::find_if(causes, [](const Cause& cause) { return cause.share > 0; });
  if (partial == causes.end() || metric_info(partial->metric).unit != Unit::bytes)
    return std::nullopt;
  const double change = partial->size / partial->share;
  double rest = change;
  for (const Cause& cause : causes) rest -= cause.size;
  if (std::abs(rest) < kLeastRest * std::abs(change)) return std::nullopt;
  Row row;
  row.cells.push_back({signed_metric(partial->metric, rest), Tone::muted});
  row.cells.back().value = rest;
  row.cells.emplace_back(
      Text((partial->role.empty() ? "" : partial->role + ": ") + "all other memory", Tone::muted));
  return row;
}

/// "16.2 to 20.1 MiB": the smallest and the largest trial.
std::string range_text(const std::string& metric, const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  const std::string low = value_text_like(metric, least, most);
  return fmt::format("{} to {}", low.substr(0, low.find(' ')), value_text_like(metric, most, most));
}

/// Why trials do not decide: those of both variants have values in common.
Text overlap_of(const ReportModel& model) {
  const Comparison* row = open_row(model, candidate_in_focus(model.results));
  if (row == nullptr) return {};
  const auto values_of = [&](const std::string& variant) {
    return values_in_trials(model.results, variant, row->role, row->metric);
  };
  const std::vector<double> baseline = values_of(row->baseline);
  const std::vector<double> candidate = values_of(row->candidate);
  if (baseline.empty() || candidate.empty()) return {};
  const bool overlap = std::ranges::min(baseline) <= std::ranges::max(candidate) &&
                       std::ranges::min(candidate) <= std::ranges::max(baseline);
  if (!overlap) return {};
  return fmt::format("The trials overlap: {} ({}) and {} ({}).{}",
                     range_text(row->metric, baseline), row->baseline,
                     range_text(row->metric, candidate), row->candidate,
                     has_limitation(model.results, kPythonNotPinned)
                         ? " Python's hash seed differs from trial to trial."
                         : "");
}

}  // namespace

Section why_section(const ReportModel& model) {
  const bool is_alone = model.results.is_alone();
  Section section{"why", is_alone ? "Where" : "Why", {}};
  Table table;
  table.columns = {{is_alone ? "memory" : "change", true}, {"where"}};
  table.has_heading = false;
  table.look = "causes";
  for (const std::vector<Cause>& causes : causes_by_row(model.causes)) {
    const std::optional<Row> rest = is_alone ? std::nullopt : rest_row(causes);
    // Parts that sum to more than the change, as something offsets them, are no shares of it.
    const bool has_shares = !rest || (*rest->cells.front().value > 0) == causes.front().more;
    for (const Cause& cause : causes)
      table.rows.push_back(cause_row(model, cause, &cause == &causes.front(), has_shares));
    if (rest) table.rows.push_back(*rest);
  }
  if (!table.rows.empty()) section.add(std::move(table));
  if (section.empty() && model.results.overall.outcome == OverallOutcome::inconclusive)
    if (Text text = overlap_of(model); !text.empty())
      section.add(Paragraph{std::move(text)}, Medium::all, 1);
  return section;
}

}  // namespace memduel
