#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "flame_tree.h"
#include "profile/difference.h"
#include "profile/function_names.h"
#include "profile/outputs.h"
#include "profile/recorded_files.h"
#include "util/bytes.h"
#include "util/error.h"

namespace memduel {

namespace {

/// One question to the profiles; amounts by site, per profile.
struct View {
  ProfileKind kind = ProfileKind::peak;
  Heap heap = Heap::malloc;
  int round = 0;          ///< of a round's peak, else 0
  int born = 0, end = 0;  ///< of a retention cell, else 0
  std::vector<LiveSites> sites;

  [[nodiscard]] auto key() const { return std::make_tuple(kind, heap, round, born, end); }
};

class Views {
 public:
  explicit Views(std::size_t profiles) : profiles_(profiles) {}

  void add(std::size_t profile, const View& view, LiveSites sites) {
    if (sites.empty()) return;
    std::ranges::sort(sites, [](const auto& a, const auto& b) { return a.first < b.first; });
    View& mine = views_.emplace(view.key(), view).first->second;
    mine.sites.resize(profiles_);
    mine.sites[profile] = std::move(sites);
  }

  [[nodiscard]] std::vector<View> all() const {
    std::vector<View> views;
    for (const auto& entry : views_) views.push_back(entry.second);
    return views;
  }

 private:
  std::size_t profiles_;
  std::map<std::tuple<ProfileKind, Heap, int, int, int>, View> views_;
};

void collect_views(Views& views, std::size_t index, const Profile& profile,
                   const FlameDataOptions& options) {
  views.add(index, {ProfileKind::peak, Heap::both, 0, 0, 0, {}}, profile.together_peak.sites);
  for (const Heap heap : {Heap::malloc, Heap::mapped}) {
    for (const ProfileKind kind : {ProfileKind::peak, ProfileKind::live, ProfileKind::allocated,
                                   ProfileKind::temporary, ProfileKind::resident}) {
      views.add(index, {kind, heap, 0, 0, 0, {}}, sites_of(profile, kind, heap));
    }
  }
  std::set<int> rounds;
  for (const ProfilePeak& peak : profile.round_peaks) rounds.insert(peak.round);
  while (rounds.size() > options.rounds) rounds.erase(rounds.begin());
  for (const ProfilePeak& peak : profile.round_peaks) {
    if (!rounds.contains(peak.round)) continue;
    views.add(index, {ProfileKind::peak, Heap::malloc, peak.round, 0, 0, {}}, peak.sites);
  }
  for (const RetentionCell& cell : profile.retention) {
    const bool kept = rounds.contains(cell.end) && (cell.born == 0 || rounds.contains(cell.born));
    if (!kept) continue;
    views.add(index, {ProfileKind::live, Heap::malloc, 0, cell.born, cell.end, {}}, cell.sites);
  }
}

nlohmann::json totals_of(const View& view) {
  nlohmann::json totals = nlohmann::json::array();
  for (const LiveSites& sites : view.sites) {
    Estimate total;
    for (const auto& entry : sites) total += entry.second;
    totals.push_back({{"bytes", std::llround(total.bytes)},
                      {"blocks", std::llround(total.count)},
                      {"half_width", std::llround(total.half_width())}});
  }
  return totals;
}

nlohmann::json json_of(const View& view) {
  nlohmann::json json{
      {"kind", to_string(view.kind)}, {"heap", to_name(view.heap)}, {"totals", totals_of(view)}};
  if (view.round != 0) json["round"] = view.round;
  if (view.end != 0) {
    json["born"] = view.born;
    json["end"] = view.end;
  }
  return json;
}

nlohmann::json json_of(const Profile& profile, const std::string& name) {
  nlohmann::json json{{"name", name},
                      {"facts", profile.info},
                      {"notes", profile.notes},
                      {"unit", to_string(profile.unit)},
                      {"counted", profile.counted},
                      {"sampled", profile.sampled()}};
  if (!profile.moments.empty()) {
    for (const ProfileMoment& moment : profile.moments) {
      json["moments"].push_back({moment.at, std::llround(moment.bytes)});
    }
  }
  if (profile.counters) {
    json["counters"] = {{"peak_bytes", profile.counters->peak_bytes},
                        {"live_bytes", profile.counters->live_bytes},
                        {"allocated_bytes", profile.counters->allocated_bytes},
                        {"allocations", profile.counters->allocations},
                        {"mapping_peak_bytes", profile.counters->mapping_peak_bytes},
                        {"together_peak_bytes", profile.counters->together_peak_bytes}};
  }
  return json;
}

void put_nodes(std::string& bytes, const FlameTree& tree) {
  std::vector<std::uint32_t> depths(tree.nodes().size(), 0);
  for (std::uint32_t i = 1; i < depths.size(); ++i) {
    const FlameTree::Node& node = tree.nodes()[i];
    depths[i] = depths[node.parent] + 1;
    put_varint(bytes, depths[i - 1] + 1 - depths[i]);
    put_varint(bytes, node.frame);
  }
}

void put_amounts(std::string& bytes, const LiveSites& sites) {
  put_varint(bytes, sites.size());
  std::int64_t last = -1;
  for (const auto& [site, amount] : sites) {
    put_varint(bytes, static_cast<std::uint64_t>(std::int64_t{site} - last));
    last = site;
    put_varint(bytes, static_cast<std::uint64_t>(std::max(0LL, std::llround(amount.bytes))));
    put_varint(bytes, static_cast<std::uint64_t>(std::max(0LL, std::llround(amount.count))));
    put_varint(bytes, static_cast<std::uint64_t>(std::llround(std::sqrt(amount.variance))));
  }
}

/// Names of phases that are common to all profiles.
class Phases {
 public:
  std::uint64_t number_of(const std::string& name) {
    const auto found = std::ranges::find(names_, name);
    if (found != names_.end()) return static_cast<std::uint64_t>(found - names_.begin());
    names_.push_back(name);
    return names_.size() - 1;
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_{""};
};

/// A question that only one of two has would show the other as nothing.
bool is_comparable(const View& view, const Comparability& both) {
  const bool of_both =
      std::ranges::all_of(view.sites, [](const LiveSites& sites) { return !sites.empty(); });
  const bool known = std::ranges::find(both.kinds, view.kind) != both.kinds.end();
  const bool whole_run = view.round == 0 && view.end == 0 && view.heap == Heap::malloc;
  return known && (both.one_tool || whole_run || of_both);
}

}  // namespace

std::string flame_data(const Profile& profile, const Profile* other,
                       const FlameDataOptions& options) {
  std::vector<const Profile*> profiles{&profile};
  if (other != nullptr) profiles.push_back(other);
  Comparability both;
  RenamedFunctions renamed;
  if (other != nullptr) {
    both = comparability_of(profile, *other, options.names);
    renamed = renamed_functions(compiled_functions(profile), compiled_functions(*other));
  }
  FlameTree tree;
  Views collected(profiles.size());
  std::vector<std::unordered_map<std::uint32_t, std::uint32_t>> node_of;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    node_of.push_back(tree.add(*profiles[i], i == 0 ? RenamedFunctions() : renamed));
    collect_views(collected, i, *profiles[i], options);
  }
  const std::vector<std::uint32_t> numbers = tree.sort();
  std::vector<View> views = collected.all();
  if (other != nullptr)
    std::erase_if(views, [&](const View& view) { return !is_comparable(view, both); });
  if (other != nullptr && views.empty())
    throw Error(ExitCode::usage, fmt::format("{} and {} have nothing that can be compared",
                                             options.names.at(0), options.names.at(1)));

  std::string columns;
  put_nodes(columns, tree);
  Phases phases;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    put_varint(columns, profiles[i]->sites.size());
    std::int64_t last = 0;
    for (const AllocationSite& site : profiles[i]->sites) {
      const std::int64_t node = numbers[node_of[i].at(site.stack)];
      put_varint(columns, zigzag(node - last));
      last = node;
      put_varint(columns, static_cast<std::uint64_t>(site.round));
      put_varint(columns, phases.number_of(profiles[i]->phases[site.phase]));
      put_varint(columns, site.thread);
    }
  }
  for (const View& view : views) {
    for (const LiveSites& sites : view.sites) put_amounts(columns, sites);
  }

  nlohmann::json json{{"schema", "memduel.flame/1"},
                      {"profiles", nlohmann::json::array()},
                      {"phases", phases.names()},
                      {"views", nlohmann::json::array()},
                      {"warnings", nlohmann::json::array()},
                      {"nodes", tree.nodes().size()}};
  if (!both.warning.empty()) json["warnings"].push_back(both.warning);
  if (!renamed.empty()) json["warnings"].push_back(describe(renamed));
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    json["profiles"].push_back(json_of(*profiles[i], options.names.at(i)));
  }
  for (const View& view : views) {
    const bool whole_run = view.round == 0 && view.end == 0;
    // Both heaps, which come after malloc's own, say more.
    if (view.kind == options.first && view.heap != Heap::mapped && whole_run)
      json["first"] = json["views"].size();
    json["views"].push_back(json_of(view));
  }
  nlohmann::json& frames = json["frames"];
  frames = {{"names", nlohmann::json::array()},
            {"places", tree.places()},
            {"shorts", nlohmann::json::array()},
            {"everybodys", nlohmann::json::array()},
            {"kinds", nlohmann::json::array()}};
  for (const FlameFrame& frame : tree.frames()) {
    frames["names"].push_back(frame.name);
    const std::string said = short_name(frame.name);
    frames["shorts"].push_back(said == frame.name ? "" : said);
    frames["kinds"].push_back(static_cast<int>(frame.kind));
  }
  for (const bool everybodys : tree.everybodys())
    frames["everybodys"].push_back(everybodys ? 1 : 0);
  // Names come from other people's files: bytes that are not UTF-8 are replaced, not thrown at.
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string bytes;
  put_text(bytes, text);
  return bytes + columns;
}

}  // namespace memduel
