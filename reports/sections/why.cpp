// The largest causes of the changes, as profiles explain them.

#include <fmt/format.h>

#include <cmath>

#include "sections/sections.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

Row cause_row(const Cause& cause) {
  Row row;
  row.cells.push_back({cause.amount, cause.more ? Tone::bad : Tone::good});
  row.cells.back().value = cause.size;
  Text where(cause.name);
  if (!cause.location.empty() && cause.name.find(cause.location) == std::string::npos)
    where.add(" (" + cause.location + ")", Tone::muted);
  row.cells.emplace_back(std::move(where));
  row.cells.emplace_back(cause.share > 0 ? format_percent(cause.share) + " of it" : "", Tone::muted);
  return row;
}

}  // namespace

Section why_section(const ReportModel& model) {
  Section section{"why", "Why", {}};
  std::string of;
  Table table;
  const auto flush = [&] {
    if (!table.rows.empty()) section.add(std::move(table));
    table = {};
    table.columns = {{"change", true}, {"where"}, {"share", true}};
    table.has_heading = false;
    table.look = "causes";
  };
  flush();
  const bool has_two = !model.causes.empty() && model.causes.front().of != model.causes.back().of;
  for (const Cause& cause : model.causes) {
    if (cause.of != of && has_two) {
      flush();
      table.caption = cause.of + ":";
    }
    of = cause.of;
    table.rows.push_back(cause_row(cause));
  }
  flush();
  return section;
}

}  // namespace memduel
