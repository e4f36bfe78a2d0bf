// The largest causes of the changes, as profiles explain them.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "focus.h"
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

Row cause_row(const Cause& cause, bool is_first, bool is_alone) {
  Row row;
  row.cells.push_back({cause.amount, is_alone     ? Tone::strong
                                     : cause.more ? Tone::bad
                                                  : Tone::good});
  row.cells.back().value = cause.size;
  Text where =
      with_location((cause.role.empty() ? "" : cause.role + ": ") + cause.name, cause.location);
  if (cause.share > 0)
    where.add(", " + (cause.share > kAll ? "all" : format_percent(cause.share)) +
                  (!cause.role.empty() ? " of its change"
                   : !is_first         ? ""
                   : is_alone          ? " of " + cause.of
                                       : " of the change of " + cause.of),
              Tone::muted);
  row.cells.emplace_back(std::move(where));
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
  return fmt::format("The trials overlap: {} ({}) and {} ({}).", range_text(row->metric, baseline),
                     row->baseline, range_text(row->metric, candidate), row->candidate);
}

}  // namespace

Section why_section(const ReportModel& model) {
  const bool is_alone = model.results.is_alone();
  Section section{"why", is_alone ? "Where" : "Why", {}};
  Table table;
  table.columns = {{is_alone ? "memory" : "change", true}, {"where"}};
  table.has_heading = false;
  table.look = "causes";
  std::string of;
  double largest = 0;
  for (const Cause& cause : model.causes) {
    const bool is_first = cause.of != of;
    if (is_first) largest = std::abs(cause.size);
    if (std::abs(cause.size) < kLeastShown * largest) continue;
    of = cause.of;
    table.rows.push_back(cause_row(cause, is_first, is_alone));
  }
  if (!table.rows.empty()) section.add(std::move(table));
  if (section.empty() && model.results.overall.outcome == OverallOutcome::inconclusive)
    if (Text text = overlap_of(model); !text.empty())
      section.add(Paragraph{std::move(text)}, Medium::all, 1);
  return section;
}

}  // namespace memduel
