// What a difference of memory consists of where no snapshot was taken: live allocations, memory
// that the allocator retains, file-backed pages, the rest.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sections/cells.h"
#include "sections/sections.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

Row part_row(const MemoryPart& part, const std::string& name, const std::string& baseline,
             const std::string& candidate) {
  Row row;
  row.cells.emplace_back(name);
  row.cells.push_back(bytes_cell(part.baseline_bytes, baseline));
  row.cells.push_back(bytes_cell(part.candidate_bytes, candidate));
  row.cells.push_back(difference_cell(part.difference()));
  return row;
}

Table table_of(const ReportModel& model, const MemoryBalance& balance) {
  const std::string& baseline = model.results.baseline;
  Table table;
  table.caption = quantity(model.results.job, balance.role, balance.metric);
  table.columns = {{"part"}, {baseline, true}, {balance.candidate, true}, {"difference", true}};
  table.rows.push_back(part_row(balance.total, "all of it", baseline, balance.candidate));
  table.rows.back().kind = RowKind::total;
  for (const MemoryPart& part : balance.parts)
    table.rows.push_back(part_row(part, part.name + (part.profiled ? " (profiled trial)" : ""),
                                  baseline, balance.candidate));
  Row rest;
  rest.cells = {Cell("rest"), Cell(), Cell(), difference_cell(balance.rest_bytes)};
  table.rows.push_back(std::move(rest));
  for (const MemoryPart& part : balance.at_marks)
    table.rows.push_back(
        part_row(part, part.name + ", not in the sum", baseline, balance.candidate));
  use_mebibytes(table);
  return table;
}

/// Whether some part explains more than the rest leaves open.
bool explains(const MemoryBalance& balance) {
  double explained = 0;
  for (const MemoryPart& part : balance.parts) explained += std::abs(part.difference());
  return explained > std::abs(balance.rest_bytes);
}

}  // namespace

Section balance_section(const ReportModel& model) {
  Section section{"held", "In use or retained", {}};
  if (std::ranges::none_of(model.memory_balances, explains) || !model.resident.empty())
    return section;
  section.add(
      Paragraph{Text("Medians of the measured trials. File-backed pages and values read at "
                     "markers are each at their own highest, so they do not add up to one "
                     "moment.",
                     Tone::muted)});
  for (const MemoryBalance& balance : model.memory_balances) {
    section.add(table_of(model, balance));
    section.add(Paragraph{Text("Rest: " + balance.rest + ".", Tone::muted)});
  }
  return section;
}

}  // namespace memduel
