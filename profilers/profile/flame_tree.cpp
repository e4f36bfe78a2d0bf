#include "flame_tree.h"

#include <algorithm>
#include <filesystem>

#include "names/stack_names.h"
#include "profile/function_names.h"

namespace memduel {

std::uint32_t FlameTree::frame_number(FlameFrame frame, const std::string& place, bool everybodys) {
  const auto [entry, made] =
      frame_numbers_.emplace(std::move(frame), static_cast<std::uint32_t>(frames_.size()));
  if (made) {
    frames_.push_back(entry->first);
    places_.push_back(place);
    everybodys_.push_back(everybodys);
  } else if (places_[entry->second].empty()) {
    places_[entry->second] = place;
  }
  return entry->second;
}

std::uint32_t FlameTree::child_of(std::uint32_t parent, std::uint32_t frame) {
  const std::uint64_t key = (std::uint64_t{parent} << 32) | frame;
  const auto [entry, made] = children_.emplace(key, static_cast<std::uint32_t>(nodes_.size()));
  if (made) nodes_.push_back({parent, frame});
  return entry->second;
}

// Outermost first.
std::vector<std::uint32_t> FlameTree::frames_at(const Profile& profile,
                                                const ProfileLocation& location,
                                                const RenamedFunctions& renamed) {
  const std::string library = library_of(profile, location);
  if (location.names.empty()) {
    const std::string name = describe(profile, location);
    return {frame_number({name, library, location.kind}, library,
                         is_everybodys(profile, location, name))};
  }
  std::vector<std::uint32_t> frames;
  for (auto name = location.names.rbegin(); name != location.names.rend(); ++name) {
    FlameFrame frame{name->function, library, location.kind};
    if (location.kind == ProfileLocation::Kind::python)
      frame.module = std::filesystem::path(name->file).filename().string();
    else
      frame.name = without_clone(name->function);
    if (const auto other = renamed.find(frame.name); other != renamed.end())
      frame.name = other->second;
    frames.push_back(frame_number(std::move(frame), name->file.empty() ? library : name->file,
                                  is_everybodys(profile, location, name->function)));
  }
  return frames;
}

std::unordered_map<std::uint32_t, std::uint32_t> FlameTree::add(const Profile& profile,
                                                                const RenamedFunctions& renamed) {
  // A stack's parent has a smaller number, so that one pass down finds who is needed and one pass
  // up meets each parent before its children.
  std::vector<bool> needed(profile.stacks.size(), false);
  for (const AllocationSite& site : profile.sites) needed[site.stack] = true;
  for (std::size_t i = profile.stacks.size(); i-- > 1;) {
    if (needed[i]) needed[profile.stacks[i].parent] = true;
  }
  std::vector<std::vector<std::uint32_t>> frames(profile.locations.size());
  std::unordered_map<std::uint32_t, std::uint32_t> nodes{{0, 0}};
  for (std::uint32_t i = 1; i < profile.stacks.size(); ++i) {
    if (!needed[i]) continue;
    const std::uint32_t location = profile.stacks[i].location;
    if (frames[location].empty())
      frames[location] = frames_at(profile, profile.locations[location], renamed);
    std::uint32_t node = nodes.at(profile.stacks[i].parent);
    for (const std::uint32_t frame : frames[location]) node = child_of(node, frame);
    nodes[i] = node;
  }
  return nodes;
}

std::vector<std::uint32_t> FlameTree::sort() {
  std::vector<std::uint32_t> frame_order(frames_.size());
  std::vector<std::string> places(frames_.size());
  std::vector<bool> everybodys(frames_.size());
  for (std::uint32_t number = 0; auto& entry : frame_numbers_) {
    frame_order[entry.second] = number;
    places[number] = std::move(places_[entry.second]);
    everybodys[number] = everybodys_[entry.second];
    frames_[number] = entry.first;
    entry.second = number++;
  }
  places_ = std::move(places);
  everybodys_ = std::move(everybodys);
  for (std::size_t i = 1; i < nodes_.size(); ++i) nodes_[i].frame = frame_order[nodes_[i].frame];

  std::vector<std::vector<std::uint32_t>> children(nodes_.size());
  for (std::uint32_t i = 1; i < nodes_.size(); ++i) children[nodes_[i].parent].push_back(i);
  std::vector<std::uint32_t> numbers(nodes_.size());
  std::vector<Node> sorted;
  sorted.reserve(nodes_.size());
  std::vector<std::uint32_t> open{0};
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    numbers[node] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back({numbers[nodes_[node].parent], nodes_[node].frame});
    auto& below = children[node];
    std::ranges::sort(below, [this](std::uint32_t a, std::uint32_t b) {
      return nodes_[a].frame > nodes_[b].frame;  // the last one opened is the first one numbered
    });
    open.insert(open.end(), below.begin(), below.end());
  }
  nodes_ = std::move(sorted);
  children_.clear();
  for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
    children_[(std::uint64_t{nodes_[i].parent} << 32) | nodes_[i].frame] = i;
  }
  return numbers;
}

}  // namespace memduel
