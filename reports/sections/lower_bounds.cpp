// How far each variant is from the smallest memory that its task can need.

#include <fmt/format.h>

#include <algorithm>

#include "sections/cells.h"
#include "sections/sections.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

Table bars_of(const Results& results, const LowerBound& bound) {
  Table table;
  table.caption = quantity(results.job, bound.role, bound.metric);
  table.columns = {
      {"variant"}, {"", false, false, Medium::page}, {"memory", true}, {"of the minimum", true}};
  table.look = "waterfall";
  double most = 1;
  for (const auto& [variant, multiple] : bound.multiples) most = std::max(most, multiple);
  const auto add = [&](const std::string& name, double multiple, const std::string& variant) {
    Row row;
    row.cells = {Cell(name), bar_cell(0, multiple, 0, most, variant, Tone::muted),
                 bytes_cell(multiple * bound.bytes, variant),
                 Cell(fmt::format("{:.1f}×", multiple))};
    row.cells.back().value = multiple;
    table.rows.push_back(std::move(row));
  };
  add("theoretical minimum", 1, "");
  for (const ArmSummary* arm : judged_arms(results))
    if (const auto found = bound.multiples.find(arm->name); found != bound.multiples.end())
      add(arm->name, found->second, arm->name);
  use_mebibytes(table);
  return table;
}

}  // namespace

Section lower_bounds_section(const ReportModel& model) {
  Section section{"lower-bounds", "Compared with the theoretical minimum", {}};
  for (const LowerBound& bound : model.results.lower_bounds) {
    section.add(bars_of(model.results, bound));
    section.add(Paragraph{Text(
        fmt::format("Minimum: {} ({}).", format_bytes(bound.bytes), bound.formula), Tone::muted)});
  }
  if (!section.empty())
    section.add(
        Paragraph{Text("The minimum is what a role must hold at once above start-up, derived "
                       "on paper.",
                       Tone::muted)});
  return section;
}

}  // namespace memduel
