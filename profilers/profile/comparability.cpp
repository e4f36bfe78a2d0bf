#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "profile/difference.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel {
namespace {

/// The number that a fact begins with; absent if there is none.
std::optional<double> number_in(const std::string& fact) {
  char* end = nullptr;
  const double value = std::strtod(fact.c_str(), &end);
  return end == fact.c_str() || !std::isfinite(value) ? std::nullopt : std::optional(value);
}

/// Of a format that several tools write.
ToolFacts facts_of_amounts(const Profile& profile) {
  const bool any_live = std::ranges::any_of(
      profile.sites, [](const AllocationSite& site) { return site.live.samples > 0; });
  const std::string tracer = profile.fact("profiler");
  // "memray (gprof2dot)" and "memray (stats)" are memray's, whichever of its formats.
  return {tracer.substr(0, tracer.find_first_of(" @")), CountedSize::requested,
          profile.peak.total.samples > 0, profile.any_allocated(), any_live};
}

}  // namespace

TracerFacts facts_of(const Profile& profile) {
  TracerFacts facts;
  const bool is_recorders = profile.fact("profiler").empty();
  facts.known_tool = profile.facts || is_recorders;
  static_cast<ToolFacts&>(facts) =
      profile.facts  ? *profile.facts
      : is_recorders ? ToolFacts{"memduel", CountedSize::requested, true, true, true}
                     : facts_of_amounts(profile);
  // jemalloc calls it one sample per byte when it records every block.
  const auto interval = number_in(profile.fact("interval_bytes"));
  if (profile.sampled() && interval && *interval > 1) facts.interval_bytes = interval;
  facts.denser_at_first = !profile.fact("first_interval_bytes").empty();
  return facts;
}

std::string counting_of(const TracerFacts& facts) {
  const char* bytes = facts.counted == CountedSize::requested ? "requested bytes" : kBytesOfClasses;
  if (facts.interval_bytes)
    return fmt::format("{}, one sample per {}{}", bytes, format_bytes(*facts.interval_bytes),
                       facts.denser_at_first ? ", the first ones denser" : "");
  return fmt::format("{} of every allocation", bytes);
}

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
  const bool alike = both.one_tool && !first.known_tool && a.fact("profiler") == b.fact("profiler");
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
    return both;
  }
  if (!all)
    both.warning =
        fmt::format("{} has {}, {} has {}. Compared: {}", names.at(0), kinds_text(kinds_in(a)),
                    names.at(1), kinds_text(kinds_in(b)), kinds_text(both.kinds));
  if (const std::string x = counting_of(first), y = counting_of(second);
      a.unit == ProfileUnit::bytes && x != y)
    both.warning += fmt::format(
        "{}{} has {}, {} has {}: a difference of stacks is as precise as "
        "the less precise profile",
        all ? "" : ". ", names.at(0), x, names.at(1), y);
  return both;
}

}  // namespace memduel
