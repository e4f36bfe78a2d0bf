// Which profiles the run has, the commands that show them, and what recording cost.

#include <fmt/format.h>

#include "sections/sections.h"
#include "util/text.h"

namespace memduel {
namespace {

Table table_of(const std::vector<ListedProfile>& profiles) {
  Table table;
  table.columns = {{"role"}, {"variant"}, {"profiler"}, {"round"}, {"file"}};
  for (const ListedProfile& profile : profiles) {
    Row row;
    row.cells = {Cell(profile.role), Cell(profile.arm), Cell(profile.tracer),
                 Cell(profile.round ? fmt::format("end of {}", *profile.round) : "whole run"),
                 Cell(profile.file, Tone::code)};
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Section profiles_section(const ReportModel& model) {
  constexpr std::size_t kMostCommands = 6;
  const auto& [profiles, commands, sentences] = model.profiles;
  Section section{"profiles", "Profiles and profiling overhead", {}};
  if (profiles.empty() && sentences.empty()) return section;
  List overhead;
  for (const std::string& sentence : sentences) overhead.items.emplace_back(sentence);
  if (!overhead.items.empty()) section.add(std::move(overhead));
  if (!commands.empty())
    section.add(Paragraph{
        Text("Profiled trials are no part of the statistics. To open a profile:", Tone::muted)});
  for (std::size_t i = 0; i < commands.size(); ++i)
    section.add(Command{commands[i]}, i < kMostCommands ? Medium::all : Medium::page);
  if (!profiles.empty())
    section.add(Fold{format_count(profiles.size(), "profile"), {{table_of(profiles)}}, false, true},
                Medium::page);
  return section;
}

}  // namespace memduel
