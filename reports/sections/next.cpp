// What to do next: one action, or a command to copy; and the command that a warning ends in.

#include <algorithm>

#include "sections/sections.h"
#include "verdict/results.h"

namespace memduel {
namespace {

/// The first note whose advice ends in a command, as of a run that was cut off.
const Note* note_with_command(const Results& results) {
  for (const std::vector<Note>* notes : {&results.warnings, &results.limitations}) {
    const auto found = std::ranges::find_if(
        *notes, [](const Note& note) { return note.advice.find('\n') != std::string::npos; });
    if (found != notes->end()) return &*found;
  }
  return nullptr;
}

}  // namespace

Section next_step_section(const ReportModel& model) {
  Section section{"next", "Next", {}};
  if (const std::optional<Suggestion>& next = model.results.first_screen.next_step) {
    section.add(Paragraph{next->sentence});
    if (!next->command.empty()) section.add(Command{next->command});
  }
  if (const Note* note = note_with_command(model.results)) {
    const std::size_t end = note->advice.find('\n');
    const std::size_t command =
        std::min(note->advice.find_first_not_of(" \n", end), note->advice.size());
    section.add(Paragraph{note->message + "; " + note->advice.substr(0, end)});
    section.add(Command{note->advice.substr(command)});
  }
  return section;
}

}  // namespace memduel
