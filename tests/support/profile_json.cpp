#include "support/profile_json.h"

#include <cmath>

#include "util/json.h"

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
    if (moment.rss_bytes) entry["rss_bytes"] = rounded(*moment.rss_bytes);
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

}  // namespace

nlohmann::json profile_json(const Profile& profile) {
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
                             {"heap", to_name(site.heap)},
                             {"allocated", json_of(site.allocated)},
                             {"live", json_of(site.live)},
                             {"temporary", json_of(site.temporary)}});
  }
  json["peak"] = json_of(profile.peak);
  json["mapping_peak"] = json_of(profile.mapping_peak);
  json["together_peak"] = json_of(profile.together_peak);
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
    json["moments"] = json_of(profile.moments);
  }
  return json;
}

}  // namespace memduel
