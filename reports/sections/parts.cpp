// How much each part of a training took at its highest: parameters, gradients, activations, data.

#include "sections/cells.h"
#include "sections/sections.h"
#include "verdict/questions.h"
#include "words.h"

namespace memduel {

Section parts_section(const ReportModel& model) {
  Section section{"parts", "Peak by part of the training", {}};
  for (const PartPeaks& peaks : model.part_peaks) {
    Table table;
    table.columns.push_back({role_words(model.results.job, peaks.role)});
    for (const std::string& variant : peaks.arms) table.columns.push_back({variant, true});
    for (const PartPeak& part : peaks.parts) {
      Row row;
      row.cells.emplace_back(part.name);
      for (std::size_t i = 0; i < peaks.arms.size(); ++i) {
        Cell cell = bytes_cell(part.bytes[i], peaks.arms[i]);
        if (const auto ratio = i > 0 ? part.ratio(i) : std::nullopt)
          cell.text.add(" " + ratio_text(*ratio), Tone::muted);
        row.cells.push_back(std::move(cell));
      }
      table.rows.push_back(std::move(row));
    }
    use_mebibytes(table);
    section.add(std::move(table));
  }
  if (!section.empty())
    section.add(
        Paragraph{Text("Each part at its own highest in any round, so the parts do not add "
                       "up; medians of the measured trials.",
                       Tone::muted)});
  return section;
}

}  // namespace memduel
