#include "profilers/profile/questions/export_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"

namespace memduel {

namespace {

std::int64_t rounded(double value) {
  return static_cast<std::int64_t>(std::llround(value));
}

/// What may have kept the amounts out of the profile.
std::string advice_for_none(const Profile& profile, const std::string& kind) {
  if (kind.starts_with(to_name(ProfileKind::resident)))
    return "record it with --snapshot-at rss=97%";
  if (!profile.notes.empty()) return {};
  if (profile.unit != ProfileUnit::bytes) {
    return "a program that ran for less than a sampling period has none: let it run longer or "
           "sample more often";
  }
  if (!profile.sampled()) return {};
  return "a sampled run of a small program may have none: record every block (memduel record "
         "--exact)";
}

[[noreturn]] void fail_without(const Profile& profile, const std::string& kind,
                               const std::string& file) {
  const char* const amounts = profile.unit == ProfileUnit::bytes ? "allocations" : "samples";
  std::string problem = fmt::format("the profile has no {}{}", kind, amounts);
  for (const std::string& note : profile.notes) problem += "; " + note;
  throw Error(ExitCode::io, problem, file, advice_for_none(profile, kind));
}

/// Of a program that maps all of its memory itself the peak has mappings alone.
LiveSites exported_sites(const Profile& profile, ProfileKind kind) {
  LiveSites sites = sites_of(profile, kind);
  if (sites.empty() && kind == ProfileKind::peak) return profile.together_peak.sites;
  return sites;
}

}  // namespace

ProfileKind choose_kind(const Profile& profile, std::optional<ProfileKind> wanted,
                        const std::string& file) {
  if (wanted) {
    if (!exported_sites(profile, *wanted).empty()) return *wanted;
    fail_without(profile, to_string(*wanted) + " ", file);
  }
  for (const ProfileKind kind : {ProfileKind::peak, ProfileKind::live, ProfileKind::allocated}) {
    if (!exported_sites(profile, kind).empty()) return kind;
  }
  fail_without(profile, "", file);
}

std::string export_folded(const Profile& profile, ProfileKind kind) {
  std::map<std::string, double> lines;  // different addresses of one function are one stack
  for (const auto& [stack, amount] : stacks_of(profile, exported_sites(profile, kind))) {
    std::string line;
    for (const FrameName& frame : frames_of(profile, stack)) {
      if (!line.empty()) line += ';';
      std::string name = frame.function;
      std::ranges::replace(name, ';', ':');
      std::ranges::replace(name, '\n', ' ');
      line += name;
    }
    lines[line.empty() ? "[no stack]" : line] += amount.bytes;
  }
  std::string text;
  for (const auto& [line, bytes] : lines) text += fmt::format("{} {}\n", line, rounded(bytes));
  return text;
}

}  // namespace memduel
