// The command that runs it all again.

#include "sections/sections.h"

namespace memduel {

Section reproduce_section(const ReportModel& model) {
  Section section{"reproduce", "Reproduce", {}};
  section.add(Command{model.reproduce});
  section.add(Downloads{}, Medium::page);
  return section;
}

}  // namespace memduel
