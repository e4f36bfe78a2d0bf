#include "profilers/profile/questions/export_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json/described_json.h"

namespace memduel {

namespace {

std::int64_t rounded(double value) {
  return static_cast<std::int64_t>(std::llround(value));
}

nlohmann::json json_of(const Estimate& amount) {
  nlohmann::json json{{"bytes", rounded(amount.bytes)}, {"count", rounded(amount.count)}};
  if (amount.variance > 0) json["half_width_bytes"] = rounded(amount.half_width());
  return json;
}

nlohmann::json json_of(const LiveSites& sites) {
  nlohmann::json json = nlohmann::json::array();
  for (const auto& [site, amount] : sites) {
    nlohmann::json entry = json_of(amount);
    entry["site"] = site;
    json.push_back(std::move(entry));
  }
  return json;
}

nlohmann::json json_of(const ProfilePeak& peak) {
  return {{"round", peak.round},   {"phase", peak.phase},          {"begin_ns", peak.begin_ns},
          {"end_ns", peak.end_ns}, {"total", json_of(peak.total)}, {"sites", json_of(peak.sites)}};
}

nlohmann::json json_of(const std::vector<ProfilePeak>& peaks) {
  nlohmann::json json = nlohmann::json::array();
  for (const ProfilePeak& peak : peaks) json.push_back(json_of(peak));
  return json;
}

nlohmann::json json_of(const std::vector<ProfileMoment>& moments) {
  nlohmann::json json = nlohmann::json::array();
  for (const ProfileMoment& moment : moments) {
    nlohmann::json entry{{"at", moment.at}, {"bytes", rounded(moment.bytes)}};
    if (moment.extra_bytes) entry["extra_bytes"] = rounded(*moment.extra_bytes);
    if (moment.rss_bytes) entry["rss_bytes"] = rounded(*moment.rss_bytes);
    if (!moment.sites.empty()) entry["sites"] = json_of(moment.sites);
    json.push_back(std::move(entry));
  }
  return json;
}

nlohmann::json json_of(const ResidentSnapshot& snapshot) {
  nlohmann::json parts = nlohmann::json::array();
  for (const ResidentPart& part : snapshot.parts)
    parts.push_back({{"owner", to_name(part.owner)},
                     {"name", part.name},
                     {"share", part.share},
                     {"bytes", rounded(part.bytes)}});
  return {{"time_ns", snapshot.time_ns},
          {"round", snapshot.round},
          {"phase", snapshot.phase},
          {"kernel_bytes", rounded(snapshot.kernel_bytes)},
          {"unexplained_bytes", rounded(snapshot.unexplained_bytes())},
          {"swapped_bytes", rounded(snapshot.swapped_bytes)},
          {"hugetlb_bytes", rounded(snapshot.hugetlb_bytes)},
          {"seconds", snapshot.seconds},
          {"zeros_apart", snapshot.zeros_apart},
          {"parts", std::move(parts)},
          {"sites", json_of(snapshot.sites)},
          {"untouched", json_of(snapshot.untouched)}};
}

nlohmann::json locations_json(const Profile& profile) {
  nlohmann::json json = nlohmann::json::array();
  for (const ProfileLocation& location : profile.locations) {
    nlohmann::json names = nlohmann::json::array();
    for (const FrameName& name : location.names) {
      names.push_back({{"function", name.function}, {"file", name.file}, {"line", name.line}});
    }
    nlohmann::json entry{{"text", describe(profile, location)}, {"names", std::move(names)}};
    if (location.module) entry["module"] = *location.module;
    if (location.kind == ProfileLocation::Kind::native) entry["address"] = location.address;
    entry["kind"] = to_name(location.kind);
    json.push_back(std::move(entry));
  }
  return json;
}

std::string dump(const nlohmann::json& json) {
  // Names come from other people's files: bytes that are not UTF-8 are replaced, not thrown at.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
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

}  // namespace

ProfileKind choose_kind(const Profile& profile, std::optional<ProfileKind> wanted,
                        const std::string& file) {
  if (wanted) {
    if (!sites_of(profile, *wanted).empty()) return *wanted;
    fail_without(profile, to_string(*wanted) + " ", file);
  }
  for (const ProfileKind kind : {ProfileKind::peak, ProfileKind::live, ProfileKind::allocated}) {
    if (!sites_of(profile, kind).empty()) return kind;
  }
  fail_without(profile, "", file);
}

std::string export_folded(const Profile& profile, ProfileKind kind) {
  std::map<std::string, double> lines;  // different addresses of one function are one stack
  for (const auto& [stack, amount] : stacks_of(profile, sites_of(profile, kind))) {
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

std::string export_speedscope(const Profile& profile, ProfileKind kind) {
  std::map<std::string, std::size_t> numbers;
  nlohmann::json frames = nlohmann::json::array();
  nlohmann::json samples = nlohmann::json::array();
  nlohmann::json weights = nlohmann::json::array();
  std::int64_t total = 0;
  for (const auto& [stack, amount] : stacks_of(profile, sites_of(profile, kind))) {
    nlohmann::json sample = nlohmann::json::array();
    for (const FrameName& frame : frames_of(profile, stack)) {
      const auto [number, made] = numbers.emplace(
          fmt::format("{}\n{}\n{}", frame.function, frame.file, frame.line), frames.size());
      if (made) {
        nlohmann::json entry{{"name", frame.function}};
        if (!frame.file.empty()) entry["file"] = frame.file;
        if (frame.line > 0) entry["line"] = frame.line;
        frames.push_back(std::move(entry));
      }
      sample.push_back(number->second);
    }
    samples.push_back(std::move(sample));
    weights.push_back(rounded(amount.bytes));
    total += rounded(amount.bytes);
  }
  const auto program = profile.info.find("program");
  const std::string name = fmt::format(
      "{} ({})", program == profile.info.end() ? "profile" : program->second, to_string(kind));
  nlohmann::json json;
  json["$schema"] = "https://www.speedscope.app/file-format-schema.json";
  json["exporter"] = "memduel";
  json["name"] = name;
  json["shared"]["frames"] = std::move(frames);
  json["profiles"] = {
      {{"type", "sampled"},
       {"name", name},
       {"unit", profile.unit == ProfileUnit::samples ? "none" : to_string(profile.unit)},
       {"startValue", 0},
       {"endValue", total},
       {"samples", std::move(samples)},
       {"weights", std::move(weights)}}};
  return dump(json);
}

std::string export_json(const Profile& profile) {
  nlohmann::json json;
  json["schema"] = "memduel.profile/1";
  json["info"] = profile.info;
  json["notes"] = profile.notes;
  json["phases"] = profile.phases;
  json["unit"] = to_string(profile.unit);
  json["counted"] = profile.counted;
  if (profile.counters) json["counters"] = written(*profile.counters);
  json["modules"] = nlohmann::json::array();
  for (const ProfileModule& module : profile.modules) {
    json["modules"].push_back({{"path", module.path}, {"build_id", module.build_id}});
  }
  json["locations"] = locations_json(profile);
  json["stacks"] = nlohmann::json::array();
  for (const StackNode& node : profile.stacks) {
    json["stacks"].push_back({node.parent, node.location});
  }
  json["sites"] = nlohmann::json::array();
  for (const AllocationSite& site : profile.sites) {
    json["sites"].push_back({{"stack", site.stack},
                             {"round", site.round},
                             {"phase", site.phase},
                             {"thread", site.thread},
                             {"heap", site.heap == Heap::malloc ? "malloc" : "mapping"},
                             {"allocated", json_of(site.allocated)},
                             {"live", json_of(site.live)},
                             {"temporary", json_of(site.temporary)}});
  }
  json["peak"] = json_of(profile.peak);
  json["mapping_peak"] = json_of(profile.mapping_peak);
  json["round_peaks"] = json_of(profile.round_peaks);
  json["phase_peaks"] = json_of(profile.phase_peaks);
  json["retention"] = nlohmann::json::array();
  for (const RetentionCell& cell : profile.retention) {
    json["retention"].push_back({{"born", cell.born},
                                 {"end", cell.end},
                                 {"total", json_of(cell.total)},
                                 {"sites", json_of(cell.sites)}});
  }
  if (profile.resident) json["resident"] = json_of(*profile.resident);
  json["sizes"] = nlohmann::json::array();
  for (const SizeBin& bin : profile.sizes) {
    nlohmann::json entry = json_of(bin.allocated);
    entry["at_least"] = bin.at_least;
    json["sizes"].push_back(std::move(entry));
  }
  if (!profile.moments.empty()) {
    json["moment_unit"] = profile.moment_unit;
    json["moments"] = json_of(profile.moments);
  }
  return dump(json) + "\n";
}

}  // namespace memduel
