#include "profilers/profile/names/named_memory.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "profilers/profile/names/runtime_memory.h"

namespace memduel {
namespace {

bool is_owner(const Profile& profile, std::uint32_t node) {
  return profile.locations[profile.stacks[node].location].kind == ProfileLocation::Kind::owner;
}

/// The nodes of code on the way to the root, innermost first, and the owner of resident pages that
/// they stand on: 0 where they stand on none.
struct Way {
  std::vector<std::uint32_t> code;
  std::uint32_t root = 0;
};

Way way_of(const Profile& profile, std::uint32_t stack) {
  Way way;
  for (std::uint32_t node = stack; node != 0; node = profile.stacks[node].parent) {
    if (is_owner(profile, node)) {
      way.root = node;
      break;
    }
    way.code.push_back(node);
  }
  return way;
}

/// The functions that map without a name are told by where they lie, and by who called them.
using MappingPlace = std::pair<std::uint32_t, std::uint32_t>;

std::optional<MappingPlace> mapping_place(const Profile& profile, const Way& way) {
  if (way.code.size() < 2) return std::nullopt;
  return MappingPlace{profile.stacks[way.code[0]].location, profile.stacks[way.code[1]].location};
}

/// Sizes of CPython's arenas: before 3.10, and since.
bool has_size_of_arena(const Estimate& mapped) {
  constexpr double kOldArena = 256 << 10;
  constexpr double kArena = 1 << 20;
  return mapped.bytes == mapped.count * kArena || mapped.bytes == mapped.count * kOldArena;
}

class MemoryNames {
 public:
  explicit MemoryNames(Profile& profile) : profile_(profile) {
    std::set<MappingPlace> others;
    for (const AllocationSite& site : profile.sites) {
      if (site.heap != Heap::mapping) continue;
      const auto place = mapping_place(profile, way_of(profile, site.stack));
      if (place) (has_size_of_arena(site.allocated) ? arenas_ : others).insert(*place);
    }
    for (const MappingPlace& place : others) arenas_.erase(place);
    for (const ProfileModule& module : profile.modules)
      files_.push_back(std::filesystem::path(module.path).filename().string());
  }

  void name(AllocationSite& site) {
    const auto [known, is_new] = named_.try_emplace({site.stack, site.heap}, site.stack);
    if (is_new) known->second = with_name(site.stack, site.heap);
    site.stack = known->second;
  }

 private:
  std::uint32_t with_name(std::uint32_t stack, Heap heap) {
    const Way way = way_of(profile_, stack);
    if (way.code.empty() || (heap != Heap::mapping && !is_of_mappings(way.root))) return stack;
    std::vector<CodeFrame> frames;
    std::vector<std::size_t> node_of;  // of each frame, its number in the way
    for (std::size_t i = 0; i < way.code.size(); ++i) add_frames(way.code[i], i, frames, node_of);
    const auto place = mapping_place(profile_, way);
    const auto found = runtime_frames(frames, place && arenas_.contains(*place));
    if (!found) return stack;
    const std::size_t own = node_of[found->count - 1] + 1;
    std::uint32_t node = own < way.code.size() ? way.code[own] : way.root;
    node = child_of(node, location_of(found->name));
    for (std::size_t i = own; i-- > 0;)
      node = child_of(node, profile_.stacks[way.code[i]].location);
    return node;
  }

  [[nodiscard]] bool is_of_mappings(std::uint32_t root) const {
    return root != 0 && profile_.locations[profile_.stacks[root].location].names.front().function ==
                            to_name(PageOwner::mapping);
  }

  void add_frames(std::uint32_t node, std::size_t number, std::vector<CodeFrame>& frames,
                  std::vector<std::size_t>& node_of) {
    const ProfileLocation& location = profile_.locations[profile_.stacks[node].location];
    const std::string_view file =
        location.module ? std::string_view(files_[*location.module]) : std::string_view();
    const bool is_python = location.kind == ProfileLocation::Kind::python;
    const auto add = [&](std::string_view function) {
      frames.push_back({function, file, is_python});
      node_of.push_back(number);
    };
    for (const FrameName& name : location.names) add(name.function);
    if (location.names.empty())
      add(texts_.try_emplace(node, describe(profile_, location)).first->second);
  }

  std::uint32_t location_of(std::string_view name) {
    const auto [known, is_new] =
        locations_.try_emplace(name, static_cast<std::uint32_t>(profile_.locations.size()));
    if (is_new) {
      ProfileLocation location;
      location.kind = ProfileLocation::Kind::owner;
      location.names.push_back({std::string(name), {}, 0});
      profile_.locations.push_back(std::move(location));
    }
    return known->second;
  }

  std::uint32_t child_of(std::uint32_t parent, std::uint32_t location) {
    const auto [known, is_new] = children_.try_emplace(
        {parent, location}, static_cast<std::uint32_t>(profile_.stacks.size()));
    if (is_new) profile_.stacks.push_back({parent, location});
    return known->second;
  }

  Profile& profile_;
  std::vector<std::string> files_;              ///< by module
  std::map<std::uint32_t, std::string> texts_;  ///< by node: of places without a name
  std::set<MappingPlace> arenas_;               ///< what mapped arenas and nothing else
  std::map<std::pair<std::uint32_t, Heap>, std::uint32_t> named_;  ///< by what they were
  std::map<std::string_view, std::uint32_t> locations_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> children_;
};

/// What the kernel calls a mapping, as people know it.
void name_unexplained(Profile& profile) {
  for (ResidentPart& part : profile.resident->parts)
    if (part.owner == PageOwner::unexplained) part.name = name_of_mapping(part.name);
  for (const StackNode& node : profile.stacks) {
    if (node.parent == 0 || profile.stacks[node.parent].parent != 0) continue;
    const ProfileLocation& root = profile.locations[profile.stacks[node.parent].location];
    if (root.kind != ProfileLocation::Kind::owner ||
        root.names.front().function != to_name(PageOwner::unexplained))
      continue;
    std::string& name = profile.locations[node.location].names.front().function;
    name = name_of_mapping(name);
  }
}

}  // namespace

void name_runtime_memory(Profile& profile) {
  MemoryNames names(profile);
  for (AllocationSite& site : profile.sites)
    if (site.heap == Heap::mapping) names.name(site);
  if (!profile.resident) return;
  for (const LiveSites* sites : {&profile.resident->sites, &profile.resident->untouched})
    for (const auto& entry : *sites) names.name(profile.sites[entry.first]);
  name_unexplained(profile);
}

std::uint32_t without_runtime(const Profile& profile, std::uint32_t stack) {
  for (std::uint32_t node = stack; node != 0; node = profile.stacks[node].parent) {
    if (!is_owner(profile, node)) continue;
    const ProfileLocation& location = profile.locations[profile.stacks[node].location];
    return runtime_memory(location.names.front().function) != nullptr ? node : stack;
  }
  return stack;
}

std::vector<std::pair<std::uint32_t, Estimate>> without_runtimes(
    const Profile& profile, const std::vector<std::pair<std::uint32_t, Estimate>>& stacks) {
  std::map<std::uint32_t, Estimate> sums;
  for (const auto& [stack, amount] : stacks) sums[without_runtime(profile, stack)] += amount;
  std::vector<std::pair<std::uint32_t, Estimate>> told(sums.begin(), sums.end());
  std::ranges::stable_sort(
      told, [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  return told;
}

}  // namespace memduel
