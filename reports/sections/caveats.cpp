// Warnings and limitations: how many on the first screen, all of them in the details.

#include <fmt/format.h>

#include "sections/sections.h"
#include "util/text.h"
#include "verdict/results.h"

namespace memduel {
namespace {

/// A note's advice may end in a command on a line of its own.
void add_note(Section& section, const char* kind, const Note& note) {
  const std::size_t end = std::min(note.advice.find('\n'), note.advice.size());
  Text text(std::string(kind) + ": ", Tone::strong);
  text.add(note.message);
  if (end > 0) text.add("; " + note.advice.substr(0, end), Tone::muted);
  if (section.empty() || !std::holds_alternative<List>(section.parts.back().value))
    section.add(List{});
  std::get<List>(section.parts.back().value).items.push_back(std::move(text));
  if (end < note.advice.size()) section.add(Command{note.advice.substr(end + 1)});
}

}  // namespace

Section caveats_notice_section(const ReportModel& model) {
  const auto& [warnings, limitations] = std::tie(model.results.warnings, model.results.limitations);
  Section section{"caveats-notice", "Caveats", {}};
  const std::size_t count = warnings.size() + limitations.size();
  if (count == 0) return section;
  section.add(Paragraph{fmt::format("{} (--verbose prints {})", count, count == 1 ? "it" : "them")},
              Medium::text);
  section.add(Paragraph{Text(fmt::format("{}: ", count)).add_link("under Caveats", "caveats")},
              Medium::page);
  return section;
}

Section caveats_section(const ReportModel& model) {
  Section section{"caveats", "Caveats", {}};
  for (const Note& note : model.results.warnings) add_note(section, "Warning", note);
  for (const Note& note : model.results.limitations) add_note(section, "Limitation", note);
  return section;
}

}  // namespace memduel
