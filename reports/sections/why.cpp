// The largest causes of the changes, as profiles explain them.

#include <fmt/format.h>

#include <cmath>

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
                  (!is_first            ? ""
                   : is_alone           ? " of " + cause.of
                   : cause.role.empty() ? " of the change of " + cause.of
                                        : " of the change"),
              Tone::muted);
  row.cells.emplace_back(std::move(where));
  return row;
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
    section.add(Paragraph{{"No cause is shown for a change that is not decided.", Tone::muted}},
                Medium::all, 1);
  return section;
}

}  // namespace memduel
