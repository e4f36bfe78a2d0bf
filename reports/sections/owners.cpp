// Where the difference of resident memory comes from: by owner of the pages, from one peak to the
// other.

#include <fmt/format.h>

#include <algorithm>

#include "model/metric_catalogue.h"
#include "sections/cells.h"
#include "sections/sections.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

bool has_stack(const WaterfallStep& step) {
  return !step.function.empty() && step.owner != "other" && step.owner != "inherited";
}

Table waterfall_of(const ReportModel& model, const ResidentTable& table) {
  const std::string metric = kPeakRss;
  std::vector<Step> steps;
  const auto add_whole = [&](const std::string& variant, double bytes) {
    steps.push_back({variant, bytes, true, value_text(metric, bytes), exact_text(metric, bytes),
                     std::nullopt, variant});
  };
  add_whole(model.results.baseline, table.baseline_bytes);
  for (const WaterfallStep& step : table.steps) {
    Text name = with_location(step.words, step.location);
    Step shown{std::move(name), step.size, false, step.amount, exact_text(metric, step.size)};
    if (has_stack(step)) {
      shown.stack = StackCell{step.function, step.location, {}, step.stack};
      link_flame(model, table.role, table.candidate, "resident", *shown.stack);
    }
    steps.push_back(std::move(shown));
  }
  add_whole(table.candidate, table.candidate_bytes);
  return waterfall(steps);
}

Table owners_of(const ReportModel& model, const ResidentTable& table) {
  Table owners;
  owners.columns = {{"owner"},
                    {"", false, false, Medium::page},
                    {model.results.baseline, true},
                    {"", false, false, Medium::page},
                    {table.candidate, true},
                    {"difference", true}};
  const double largest = std::max({table.baseline_bytes, table.candidate_bytes, 1.0});
  const auto add = [&](const OwnerRow& owner) {
    Row row;
    row.key = owner.owner;
    Text name(owner.owner, Tone::strong);
    if (owner.words != owner.owner) name.add(" " + owner.words, Tone::muted);
    row.cells.emplace_back(std::move(name));
    for (const auto& [variant, bytes] : {std::pair(model.results.baseline, owner.baseline_bytes),
                                         std::pair(table.candidate, owner.candidate_bytes)}) {
      row.cells.push_back(bar_cell(0, std::max(0.0, bytes), 0, largest, variant, Tone::plain));
      row.cells.push_back(bytes_cell(bytes, variant));
    }
    row.cells.push_back(difference_cell(owner.candidate_bytes - owner.baseline_bytes));
    owners.rows.push_back(std::move(row));
  };
  for (const OwnerRow& owner : table.owners) add(owner);
  for (const OwnerRow& owner : table.told) add(owner);
  use_mebibytes(owners);
  return owners;
}

std::vector<Part> parts_of(const ReportModel& model, const ResidentTable& table) {
  std::vector<Part> parts;
  parts.push_back({waterfall_of(model, table)});
  parts.push_back({Fold{"Both variants by owner", {{owners_of(model, table)}}}});
  List remarks;
  for (const std::string& remark : table.remarks)
    remarks.items.emplace_back(remark + ".", Tone::muted);
  parts.push_back({std::move(remarks)});
  return parts;
}

}  // namespace

Section owners_section(const ReportModel& model) {
  Section section{"resident", "Where the difference comes from", {}};
  if (model.resident.empty()) return section;
  section.add(
      Paragraph{Text("From a separate profiled trial, which is no part of the verdict: "
                     "resident memory near its peak, by owner. Each bar begins where the "
                     "one above ends.",
                     Tone::muted)});
  for (const ResidentTable& table : model.resident) {
    std::vector<Part> parts = parts_of(model, table);
    if (&table != &model.resident.front()) {
      section.add(Fold{table.title, std::move(parts), false, true}, Medium::page);
      continue;
    }
    section.add(Paragraph{Text(table.title, Tone::strong)});
    std::ranges::move(parts, std::back_inserter(section.parts));
  }
  return section;
}

}  // namespace memduel
