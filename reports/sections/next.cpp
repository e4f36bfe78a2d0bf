// What to do next: one action, or a command to copy.

#include "sections/sections.h"

namespace memduel {

Section next_step_section(const ReportModel& model) {
  Section section{"next", "Next", {}};
  const std::optional<Suggestion>& next = model.results.first_screen.next_step;
  if (!next) return section;
  section.add(Paragraph{next->sentence});
  if (!next->command.empty()) section.add(Command{next->command});
  return section;
}

}  // namespace memduel
