// Warnings and limitations: how many on the first screen, all of them in the details.

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// A note that says why trials vary, which matters where they leave the answer open, or how exact
/// details are.
struct SmallPrint {
  std::string_view code;
  bool is_of_noise = false;
};

const SmallPrint* small_print(const std::string& code) {
  static constexpr std::array kAll = {SmallPrint{"several_modes", true},
                                      SmallPrint{"drift", true},
                                      SmallPrint{"first_trial_outlier", true},
                                      SmallPrint{"position_effect", true},
                                      SmallPrint{kPythonNotPinned},
                                      SmallPrint{"pss_rationed"},
                                      SmallPrint{"sampled_less_often"},
                                      SmallPrint{"heap_above_rss"},
                                      SmallPrint{"metric_in_one_variant_only"},
                                      SmallPrint{"touched_memory_sampled"},
                                      SmallPrint{"growth_needs_rounds"},
                                      SmallPrint{"program_behind_script"},
                                      SmallPrint{"peaks_sampled_from_outside"}};
  const auto* const found = std::ranges::find(kAll, code, &SmallPrint::code);
  return found == kAll.end() ? nullptr : found;
}

/// That trials are too few, where every gate was decided.
bool is_moot(const Results& results, const Note& note) {
  return note.code == "too_few_trials" && !results.gates.empty() &&
         std::ranges::none_of(results.gates, [](const GateResult& gate) {
           return gate.outcome == GateOutcome::inconclusive;
         });
}

/// The first note that a reader has to know before the numbers; null where all are small print.
const Note* urgent_note(const Results& results) {
  const bool is_open = results.overall.outcome == OverallOutcome::inconclusive;
  for (const std::vector<Note>* notes : {&results.warnings, &results.limitations})
    for (const Note& note : *notes) {
      const SmallPrint* small = small_print(note.code);
      if (is_moot(results, note)) continue;
      if (small == nullptr || (is_open && small->is_of_noise)) return &note;
    }
  return nullptr;
}

}  // namespace

bool has_limitation(const Results& results, std::string_view code) {
  return std::ranges::find(results.limitations, code, &Note::code) != results.limitations.end();
}

Section caveats_notice_section(const ReportModel& model) {
  const auto& [warnings, limitations] = std::tie(model.results.warnings, model.results.limitations);
  Section section{"caveats-notice", "Caveats", {}};
  std::set<std::string> kinds;
  for (const std::vector<Note>& notes : {warnings, limitations})
    for (const Note& note : notes)
      if (!is_moot(model.results, note)) kinds.insert(note.code);
  if (kinds.empty()) return section.add(Paragraph{{"None.", Tone::muted}});
  const Note* note = urgent_note(model.results);
  if (note == nullptr) {
    const std::string none =
        model.results.is_alone() ? "None that changes a result. " : "None that changes a verdict. ";
    const std::string all = format_count(kinds.size(), "minor one");
    section.add(Paragraph{Text(none).add(all + ", see the report.", Tone::muted)},
                Medium::terminal);
    section.add(Paragraph{Text(none).add_link(all, "caveats").add(".")}, Medium::report);
    return section;
  }
  const std::string message = note->message.substr(0, note->message.find('\n')) + ". ";
  const std::string more =
      kinds.size() == 1 ? "Details" : format_count(kinds.size() - 1, "more caveat");
  section.add(Paragraph{Text(message).add(more + ", see the report.", Tone::muted)},
              Medium::terminal);
  section.add(Paragraph{Text(message).add_link(more, "caveats").add(".")}, Medium::report);
  return section;
}

Section caveats_section(const ReportModel& model) {
  Section section{"caveats", "Caveats", {}};
  const auto add_notes = [&](const char* kind, const std::vector<Note>& notes) {
    for (auto note = notes.begin(); note != notes.end(); ++note) {
      if (is_moot(model.results, *note)) continue;
      add_note(section, kind, *note, std::any_of(notes.begin(), note, [&](const Note& other) {
                 return other.code == note->code && other.advice == note->advice;
               }));
    }
  };
  add_notes("Warning", model.results.warnings);
  add_notes("Limitation", model.results.limitations);
  return section;
}

}  // namespace memduel
