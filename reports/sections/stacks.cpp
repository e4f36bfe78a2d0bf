// The stacks whose memory differs most between two variants.

#include <fmt/format.h>

#include "sections/cells.h"
#include "sections/sections.h"
#include "util/text.h"

namespace memduel {
namespace {

constexpr std::size_t kMostStacks = 5;

/// The flame graph's view that shows what a table of this kind shows.
std::string view_of(const std::string& kind) {
  if (kind == "retained") return "live-any";
  if (kind == "allocations") return "allocated";
  return kind;
}

Table table_of(const ReportModel& model, const DifferenceTable& table) {
  Table shown;
  const bool is_alone = model.results.is_alone();
  shown.columns = {
      {is_alone ? "memory" : "difference", true}, {"share", true}, {"function"}, {"phase"}};
  shown.most_shown = kMostStacks;
  bool has_phase = false;
  for (const DifferenceRow& row : table.rows) has_phase = has_phase || !row.phase.empty();
  for (const DifferenceRow& row : table.rows) {
    Row line;
    Cell amount(row.amount, is_alone ? Tone::plain : row.more ? Tone::bad : Tone::good);
    amount.value = row.size;
    line.cells.push_back(std::move(amount));
    line.cells.emplace_back(row.share);
    Cell function;
    std::vector<std::string> callers = row.callers;
    if (callers.empty() && !row.caller.empty()) callers.push_back(row.caller);
    function.stack = stack_cell(row.function, row.location, std::move(callers), row.stack);
    link_flame(model, table.role, table.candidate, view_of(table.kind), *function.stack);
    if (!is_alone && (function.stack->side == "first" || function.stack->side == "second"))
      function.stack->side = "difference";
    line.cells.push_back(std::move(function));
    line.cells.emplace_back(row.phase.empty() ? "–" : row.phase);
    if (!has_phase) line.cells.pop_back();
    shown.rows.push_back(std::move(line));
  }
  if (!has_phase) shown.columns.pop_back();
  return shown;
}

std::vector<Part> parts_of(const ReportModel& model, const DifferenceTable& table) {
  std::vector<Part> parts;
  if (!table.rows.empty()) parts.push_back({table_of(model, table)});
  parts.push_back(
      {Paragraph{Text(table.remark.empty() ? "From a profiled trial."
                                           : "From profiled trials; " + table.remark + ".",
                      Tone::muted)}});
  return parts;
}

}  // namespace

Section stacks_section(const ReportModel& model) {
  const bool is_alone = model.results.is_alone();
  Section section{"where", is_alone ? "Stacks at the peak" : "Stacks that differ", {}};
  if (model.differences.empty()) return section;
  if (!is_alone)
    section.add(
        Paragraph{Text("Stacks are matched by their functions, whatever their addresses and "
                       "lines, so two builds can be compared.",
                       Tone::muted)},
        Medium::page);
  for (const DifferenceTable& table : model.differences) {
    std::vector<Part> parts = parts_of(model, table);
    if (&table != &model.differences.front()) {
      section.add(Fold{table.title, std::move(parts), false, true});
      continue;
    }
    section.add(Paragraph{Text(table.title, Tone::strong)});
    for (Part& part : parts) section.parts.push_back(std::move(part));
  }
  return section;
}

}  // namespace memduel
