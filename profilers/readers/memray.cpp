// Reads memray's JSON; errors say where in the file it breaks off.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "formats.h"
#include "memory/text_cursor.h"
#include "profile/profile.h"
#include "readers/plain_source.h"
#include "stack_builder.h"
#include "util/json.h"

namespace memduel {

/// Parses the whole source and has `read` make a profile of it; what it throws for a member that is
/// missing, or of another type, becomes an Error(io) like the others.
inline Profile read_json_profile(PlainSource& source,
                                 const std::function<Profile(const nlohmann::json&)>& read) {
  const std::string text = source.rest();
  try {
    return read(nlohmann::json::parse(text, refuse_deep_json));
  } catch (const nlohmann::json::parse_error& problem) {
    source.fail(problem.byte > text.size() ? "the file ends inside its JSON" : "not JSON",
                problem.byte == 0 ? 0 : problem.byte - 1);
  } catch (const std::length_error& problem) {
    source.fail(fmt::format("not a profile: {}", problem.what()));
  } catch (const nlohmann::json::exception& problem) {
    source.fail("not a profile: " + reason_of(problem));
  }
}

/// A number of a document as an amount: not negative and not larger than any program's memory.
inline double json_amount(const nlohmann::json& value, const PlainSource& source) {
  const double amount = value.get<double>();
  constexpr double kMost = 1e18;
  if (!(amount >= 0 && amount <= kMost)) source.fail("an impossible amount");
  return amount;
}

/// A number of a document that is an index below `size`.
inline std::size_t json_index(const nlohmann::json& value, std::size_t size,
                              const PlainSource& source) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= size) {
    source.fail(fmt::format("{} where a number below {} should be", value.dump(), size));
  }
  return value.get<std::size_t>();
}

namespace {

using nlohmann::json;

constexpr std::uint64_t kLinesOfAFile = 1U << 30;

Profile profile_from_capture(const PlainSource& source, const json& document) {
  Profile profile;
  StackBuilder builder(profile);
  std::vector<std::uint32_t> functions;
  for (const json& function : document.at("functions")) {
    functions.push_back(foreign_location(
        builder, {function.at(0), function.at(1),
                  static_cast<int>(json_index(function.at(2), kLinesOfAFile, source))}));
  }
  const std::uint32_t outside = builder.named({"[no Python frame]", {}, 0});
  const auto amounts_of = [&](const char* kind) {
    std::map<std::uint32_t, Estimate> amounts;
    for (const json& record : document.at(kind)) {
      const json& chain = record.at(0);  // innermost first
      std::uint32_t node = chain.empty() ? builder.stack(0, outside) : 0;
      for (std::size_t i = chain.size(); i-- > 0;)
        node = builder.stack(node, functions[json_index(chain.at(i), functions.size(), source)]);
      const double count = json_amount(record.at(2), source);
      amounts[builder.site_number(node)] +=
          {json_amount(record.at(1), source), count, 0, static_cast<std::int64_t>(count)};
    }
    return amounts;
  };
  for (const auto& [site, amount] : amounts_of("peak")) {
    profile.peak.sites.emplace_back(site, amount);
    profile.peak.total += amount;
  }
  for (const auto& [site, amount] : amounts_of("live")) profile.sites[site].live += amount;
  profile.facts = ToolFacts{"memray", CountedSize::requested, true, false, true};
  profile.info["mode"] = "exact";
  profile.info["amounts"] = "requested bytes";
  profile.info["profiler"] = "memray " + document.at("memray").get<std::string>();
  profile.info["command"] = document.at("command");
  return profile;
}

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
  profile.info["profiler"] = "memray (gprof2dot)";
  return profile;
}

// "function:file:line".
FrameName frame_of_place(const std::string& place) {
  const std::size_t line = place.rfind(':');
  const std::size_t file =
      line == 0 || line == std::string::npos ? line : place.rfind(':', line - 1);
  if (file == std::string::npos || line == std::string::npos) return {place, {}, 0};
  const std::uint64_t number =
      TextCursor(std::string_view(place).substr(line + 1)).number().value_or(0);
  return {place.substr(0, file), place.substr(file + 1, line - file - 1),
          number < kLinesOfAFile ? static_cast<int>(number) : 0};
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
  profile.info["profiler"] = "memray (stats)";
  profile.info["allocations"] =
      fmt::format("{:.0f}", json_amount(document.at("total_num_allocations"), source));
  const json metadata = document.value("metadata", json::object());
  if (metadata.contains("peak_memory")) {
    profile.info["peak_bytes"] =
        fmt::format("{:.0f}", json_amount(metadata["peak_memory"], source));
  }
  if (metadata.contains("command_line")) profile.info["command"] = metadata["command_line"];
  profile.notes.emplace_back("memray stats has locations instead of stacks, and only the largest");
  return profile;
}

}  // namespace

bool is_memray_capture(std::string_view head) {
  return head.starts_with(R"({"memray":)");
}

Profile read_memray_capture(PlainSource& source, const SymbolOptions& /*symbols*/) {
  return read_json_profile(
      source, [&](const json& document) { return profile_from_capture(source, document); });
}

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
