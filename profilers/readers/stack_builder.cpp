#include "stack_builder.h"

#include <fmt/format.h>

#include <utility>

namespace memduel {

std::uint32_t StackBuilder::add_location(ProfileLocation location) {
  profile_.locations.push_back(std::move(location));
  return static_cast<std::uint32_t>(profile_.locations.size() - 1);
}

std::uint32_t StackBuilder::named(FrameName name, ProfileLocation::Kind kind) {
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}", name.function, name.file, name.line, static_cast<int>(kind));
  const auto [entry, made] = named_.emplace(key, 0);
  if (made) entry->second = add_location({kind, std::nullopt, 0, {std::move(name)}});
  return entry->second;
}

std::uint32_t StackBuilder::unnamed_in(std::string_view module) {
  std::string file(module.substr(module.rfind('/') + 1));
  const auto [entry, made] = unnamed_.emplace(file, 0);
  if (!made) return entry->second;
  const std::string name = file.empty() ? "[outside every module]" : fmt::format("[{}]", file);
  entry->second = add_location(
      {ProfileLocation::Kind::native, std::nullopt, 0, {{name, std::string(module), 0}}});
  is_unnamed_.resize(entry->second + 1, false);
  is_unnamed_[entry->second] = true;
  return entry->second;
}

std::uint32_t StackBuilder::stack(std::uint32_t parent, std::uint32_t location) {
  const bool goes_on = parent != 0 && profile_.stacks[parent].location == location;
  if (goes_on && location < is_unnamed_.size() && is_unnamed_[location]) return parent;
  const auto [number, made] = stacks_.emplace((std::uint64_t{parent} << 32) | location,
                                              static_cast<std::uint32_t>(profile_.stacks.size()));
  if (made) profile_.stacks.push_back({parent, location});
  return *number;
}

std::uint32_t StackBuilder::site_number(std::uint32_t stack, Heap heap) {
  const std::uint64_t key = (std::uint64_t{stack} << 1) | (heap == Heap::mapped ? 1U : 0U);
  const auto [number, made] =
      sites_.emplace(key, static_cast<std::uint32_t>(profile_.sites.size()));
  if (made) {
    AllocationSite site;
    site.stack = stack;
    site.heap = heap;
    profile_.sites.push_back(site);
  }
  return *number;
}

namespace {

constexpr std::string_view kUnknown = "<unknown>";

}  // namespace

ProfileLocation::Kind kind_of_file(std::string_view file) {
  const bool python = file.ends_with(".py") || file.starts_with("<frozen ") || file == "<string>" ||
                      file == "<stdin>";
  return python ? ProfileLocation::Kind::python : ProfileLocation::Kind::native;
}

std::uint32_t foreign_location(StackBuilder& builder, FrameName frame) {
  const auto kind = kind_of_file(frame.file);
  if (frame.file == kUnknown) frame.file.clear();
  if (frame.function == kUnknown && frame.file.empty()) return builder.unnamed_in("unknown");
  return builder.named(std::move(frame), kind);
}

}  // namespace memduel
