#include "profilers/readers/memray.h"

#include <algorithm>

#include "profilers/readers/foreign_frames.h"
#include "profilers/readers/json_document.h"
#include "profilers/readers/stack_builder.h"
#include "profilers/readers/text_cursor.h"

namespace memduel {

namespace {

using nlohmann::json;

Profile profile_from_events(const PlainSource& source, const json& document) {
  Profile profile;
  StackBuilder builder(profile);
  std::vector<std::uint32_t> functions;
  for (const json& function : document.at("functions")) {
    functions.push_back(
        foreign_location(builder, {function.at("name"), function.value("module", ""), 0}));
  }
  std::map<std::uint32_t, Estimate> sites;
  for (const json& event : document.at("events")) {
    const json& chain = event.at("callchain");  // innermost first
    std::uint32_t node = 0;
    for (std::size_t i = chain.size(); i-- > 0;) {
      node = builder.stack(node, functions[json_index(chain.at(i), functions.size(), source)]);
    }
    Estimate& site = sites[builder.site_number(node)];
    site.bytes += json_amount(event.at("cost").at(0), source);
    site.samples = 1;
  }
  for (const auto& [site, amount] : sites) {
    profile.peak.sites.emplace_back(site, amount);
    profile.peak.total += amount;
  }
  profile.counted = false;
  profile.info["mode"] = "exact";
  profile.info["amounts"] = "requested bytes";
  profile.info["tracer"] = "memray (gprof2dot)";
  return profile;
}

// "function:file:line".
FrameName frame_of_place(const std::string& place) {
  const std::size_t line = place.rfind(':');
  const std::size_t file =
      line == 0 || line == std::string::npos ? line : place.rfind(':', line - 1);
  if (file == std::string::npos || line == std::string::npos) return {place, {}, 0};
  constexpr std::uint64_t kMostLines = 1U << 30;
  const std::uint64_t number =
      TextCursor(std::string_view(place).substr(line + 1)).number().value_or(0);
  return {place.substr(0, file), place.substr(file + 1, line - file - 1),
          number < kMostLines ? static_cast<int>(number) : 0};
}

Profile profile_from_stats(const PlainSource& source, const json& document) {
  Profile profile;
  StackBuilder builder(profile);
  double listed = 0;
  for (const json& entry : document.at("top_allocations_by_size")) {
    const double bytes = json_amount(entry.at("size"), source);
    const std::uint32_t place = foreign_location(builder, frame_of_place(entry.at("location")));
    builder.site(builder.stack(0, place)).allocated += {bytes, 0, 0, 1};
    listed += bytes;
  }
  const double all = json_amount(document.at("total_bytes_allocated"), source);
  if (all > listed) {
    builder.site(builder.stack(0, builder.named({"[other places]", {}, 0}))).allocated +=
        {all - listed, 0, 0, 1};
  }
  profile.counted = false;
  profile.info["mode"] = "exact";
  profile.info["amounts"] = "requested bytes";
  profile.info["tracer"] = "memray (stats)";
  profile.info["allocations"] =
      fmt::format("{:.0f}", json_amount(document.at("total_num_allocations"), source));
  const json metadata = document.value("metadata", json::object());
  if (metadata.contains("peak_memory")) {
    profile.info["peak_bytes"] =
        fmt::format("{:.0f}", json_amount(metadata["peak_memory"], source));
  }
  if (metadata.contains("command_line")) profile.info["command"] = metadata["command_line"];
  profile.notes.emplace_back("memray stats keeps places, not stacks, and only the largest of them");
  return profile;
}

}  // namespace

bool is_memray_gprof2dot(std::string_view head) {
  return head.starts_with('{') && head.find("\"costs\"") != std::string_view::npos &&
         head.find("\"events\"") != std::string_view::npos;
}

Profile read_memray_gprof2dot(PlainSource& source, const SymbolOptions& /*symbols*/) {
  return read_json_profile(
      source, [&](const json& document) { return profile_from_events(source, document); });
}

bool is_memray_stats(std::string_view head) {
  return head.starts_with('{') && head.find("\"total_bytes_allocated\"") != std::string_view::npos;
}

Profile read_memray_stats(PlainSource& source, const SymbolOptions& /*symbols*/) {
  return read_json_profile(
      source, [&](const json& document) { return profile_from_stats(source, document); });
}

}  // namespace memduel
