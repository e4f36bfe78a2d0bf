#include "profilers/profile/questions/comparability.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "profilers/profile/model/tracer_facts.h"

namespace memduel {
namespace {

constexpr std::array kAllKinds = {ProfileKind::peak, ProfileKind::live, ProfileKind::allocated,
                                  ProfileKind::temporary};

bool tells(const TracerFacts& facts, ProfileKind kind) {
  switch (kind) {
    case ProfileKind::peak:
      return facts.has_peak;
    case ProfileKind::live:
      return facts.has_live;
    case ProfileKind::allocated:
      return facts.has_allocated;
    case ProfileKind::temporary:
    case ProfileKind::resident:
      break;
  }
  return false;
}

std::string kinds_text(const std::vector<ProfileKind>& kinds) {
  std::string text;
  for (const ProfileKind kind : kinds)
    if (kind != ProfileKind::temporary) text += (text.empty() ? "" : ", ") + to_string(kind);
  return text.empty() ? "nothing" : text;
}

std::vector<ProfileKind> kinds_in(const Profile& profile) {
  std::vector<ProfileKind> kinds;
  const TracerFacts facts = facts_of(profile);
  for (const ProfileKind kind : kAllKinds)
    if (tells(facts, kind)) kinds.push_back(kind);
  return kinds;
}

std::string tracer_in(const Profile& profile) {
  const auto found = profile.info.find("tracer");
  return found == profile.info.end() ? std::string() : found->second;
}

std::string tool_text(const TracerFacts& facts) {
  return fmt::format("{} ({})", facts.tool, counting_of(facts));
}

}  // namespace

Comparability comparability_of(const Profile& a, const Profile& b,
                               const std::vector<std::string>& names) {
  if (a.unit != b.unit)
    throw Error(ExitCode::usage,
                fmt::format("{} has {} and {} has {}: they cannot be compared", names.at(0),
                            to_string(a.unit), names.at(1), to_string(b.unit)));
  Comparability both;
  const TracerFacts first = facts_of(a);
  const TracerFacts second = facts_of(b);
  both.one_tool = first.tool == second.tool || a.unit != ProfileUnit::bytes;
  // Of two files of one unknown tool, one that has no amount of a kind has none of it.
  const bool alike = both.one_tool && !first.known_tool && tracer_in(a) == tracer_in(b);
  bool all = true;
  for (const ProfileKind kind : {ProfileKind::peak, ProfileKind::live, ProfileKind::allocated}) {
    const bool in_both = tells(first, kind) && tells(second, kind);
    if (alike || in_both) both.kinds.push_back(kind);
    all = all && (alike || tells(first, kind) == tells(second, kind));
  }
  // Each tool calls other blocks temporary.
  if (both.one_tool) both.kinds.push_back(ProfileKind::temporary);
  if (a.resident && b.resident) both.kinds.push_back(ProfileKind::resident);
  if (both.kinds.empty() || both.kinds.front() == ProfileKind::temporary)
    throw Error(ExitCode::usage,
                fmt::format("{} has {} and {} has {}: they have no amount in common", names.at(0),
                            kinds_text(kinds_in(a)), names.at(1), kinds_text(kinds_in(b))));
  if (!both.one_tool) {
    both.warning = fmt::format(
        "{} is of {} and {} of {}: tools count differently, so that a difference may be theirs and "
        "not the program's. Compared: {}",
        names.at(0), tool_text(first), names.at(1), tool_text(second), kinds_text(both.kinds));
  } else if (!all) {
    both.warning =
        fmt::format("{} has {}, {} has {}. Compared: {}", names.at(0), kinds_text(kinds_in(a)),
                    names.at(1), kinds_text(kinds_in(b)), kinds_text(both.kinds));
  }
  return both;
}

}  // namespace memduel
