// The flame graphs of the run's profiled trials.

#include "sections/sections.h"

namespace memduel {

Section flames_section(const ReportModel& model) {
  Section section{"flames", "Memory by stack", {}};
  if (model.flames.shown.empty() && model.flames.absent.empty()) return section;
  section.add(
      Paragraph{Text("From profiled trials, which are no part of the verdict.", Tone::muted)},
      Medium::page);
  section.add(FlameGraphs{}, Medium::page);
  return section;
}

}  // namespace memduel
