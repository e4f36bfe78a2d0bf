// What a difference of memory consists of where no snapshot was taken: live allocations, memory
// that the allocator retains, file-backed pages, the rest.

#include <fmt/format.h>

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
  rest.cells = {Cell("rest: " + balance.rest), Cell(), Cell(), difference_cell(balance.rest_bytes)};
  table.rows.push_back(std::move(rest));
  for (const MemoryPart& part : balance.at_marks)
    table.rows.push_back(
        part_row(part, part.name + ", not in the sum", baseline, balance.candidate));
  return table;
}

}  // namespace

Section balance_section(const ReportModel& model) {
  Section section{"held", "In use or retained", {}};
  if (model.memory_balances.empty() || !model.resident.empty()) return section;
  section.add(
      Paragraph{Text("Medians of the measured trials. File-backed pages and values read at "
                     "markers are each at their own highest, so they do not add up to one "
                     "moment.",
                     Tone::muted)});
  for (const MemoryBalance& balance : model.memory_balances) section.add(table_of(model, balance));
  return section;
}

}  // namespace memduel
