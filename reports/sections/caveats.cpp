// Warnings and limitations: how many on the first screen, all of them in the details.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "sections/sections.h"
#include "util/text.h"
#include "verdict/results.h"

namespace memduel {
namespace {

/// A note's advice may end in a command on a line of its own. Notes of one kind give it once.
void add_note(Section& section, const char* kind, Note note, bool is_repeated) {
  if (is_repeated) note.advice.clear();
  const std::size_t end = std::min(note.advice.find('\n'), note.advice.size());
  Text text(std::string(kind) + ": ", Tone::strong);
  text.add(note.message);
  if (end > 0) text.add("; " + note.advice.substr(0, end), Tone::muted);
  if (section.empty() || !std::holds_alternative<List>(section.parts.back().value))
    section.add(List{});
  std::get<List>(section.parts.back().value).items.push_back(std::move(text));
  if (end < note.advice.size()) section.add(Command{note.advice.substr(end + 1)});
}

/// The first note that a reader has to know before the numbers. Others say why trials vary, which
/// matters where they leave the answer open, and how exact details are.
const Note* urgent_note(const Results& results) {
  constexpr std::array<std::string_view, 5> kOfNoise = {
      "several_modes", "drift", "first_trial_outlier", "position_effect", "python_not_pinned"};
  constexpr std::array<std::string_view, 5> kOfDetails = {
      "pss_rationed", "sampled_less_often", "touched_memory_sampled", "growth_needs_rounds",
      "program_behind_script"};
  const bool is_open = results.overall.outcome == OverallOutcome::inconclusive;
  for (const std::vector<Note>* notes : {&results.warnings, &results.limitations})
    for (const Note& note : *notes) {
      const bool is_of_noise = std::ranges::find(kOfNoise, note.code) != kOfNoise.end();
      const bool is_of_details = std::ranges::find(kOfDetails, note.code) != kOfDetails.end();
      if (!is_of_details && (is_open || !is_of_noise)) return &note;
    }
  return nullptr;
}

}  // namespace

Section caveats_notice_section(const ReportModel& model) {
  const auto& [warnings, limitations] = std::tie(model.results.warnings, model.results.limitations);
  Section section{"caveats-notice", "Caveats", {}};
  std::set<std::string> kinds;
  for (const std::vector<Note>& notes : {warnings, limitations})
    for (const Note& note : notes) kinds.insert(note.code);
  if (kinds.empty()) return section.add(Paragraph{{"None.", Tone::muted}});
  const Note* note = urgent_note(model.results);
  if (note == nullptr) {
    const std::string all =
        format_count(kinds.size(), "remark on noise or precision", "remarks on noise or precision");
    section.add(Paragraph{Text(all).add(": --verbose.", Tone::muted)}, Medium::text);
    section.add(Paragraph{Text().add_link(all, "caveats")}, Medium::page);
    return section;
  }
  const std::string message = note->message.substr(0, note->message.find('\n')) + ". ";
  const std::string more =
      kinds.size() == 1 ? "Details" : format_count(kinds.size() - 1, "more caveat");
  section.add(Paragraph{Text(message).add(more + ": --verbose.", Tone::muted)}, Medium::text);
  section.add(Paragraph{Text(message).add_link(more, "caveats")}, Medium::page);
  return section;
}

Section caveats_section(const ReportModel& model) {
  Section section{"caveats", "Caveats", {}};
  const auto add_notes = [&](const char* kind, const std::vector<Note>& notes) {
    for (auto note = notes.begin(); note != notes.end(); ++note)
      add_note(section, kind, *note, std::any_of(notes.begin(), note, [&](const Note& other) {
                 return other.code == note->code && other.advice == note->advice;
               }));
  };
  add_notes("Warning", model.results.warnings);
  add_notes("Limitation", model.results.limitations);
  return section;
}

}  // namespace memduel
