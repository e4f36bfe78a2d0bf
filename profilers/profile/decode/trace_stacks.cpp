#include "trace_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "checked_number.h"

namespace memduel {
namespace {

// More than any program has; a damaged file must not make us reserve the machine's memory.
constexpr std::uint64_t kMostNodes = 1U << 26;
constexpr std::uint64_t kMostLostNodes =
    1U << 18;  ///< several blocks are lost: nothing is worth reading

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace

void TraceStacks::add_module(const recorder::events::Module& event) {
  ProfileModule module;
  module.begin = event.begin;
  module.end = event.end;
  module.bias = event.bias;
  module.build_id = hexadecimal(event.build_id);
  module.path = event.path;
  if (module.end <= module.begin) throw std::out_of_range("an empty module");
  // What was mapped there before is gone.
  auto overlap = modules_by_begin_.lower_bound(module.begin);
  if (overlap != modules_by_begin_.begin()) {
    auto before = std::prev(overlap);
    if (profile_.modules[before->second].end > module.begin) modules_by_begin_.erase(before);
  }
  while (overlap != modules_by_begin_.end() && overlap->first < module.end) {
    overlap = modules_by_begin_.erase(overlap);
  }
  // A library that was closed and opened again is the same module when it came back to its place.
  const auto same = std::ranges::find_if(profile_.modules, [&module](const ProfileModule& known) {
    return known.begin == module.begin && known.end == module.end && known.bias == module.bias &&
           known.path == module.path && known.build_id == module.build_id;
  });
  modules_by_begin_[module.begin] = static_cast<std::size_t>(same - profile_.modules.begin());
  if (same == profile_.modules.end()) profile_.modules.push_back(std::move(module));
}

std::uint32_t TraceStacks::native_location(std::uint64_t ip) {
  std::optional<std::size_t> module;
  auto after = modules_by_begin_.upper_bound(ip);
  if (after != modules_by_begin_.begin()) {
    const std::size_t candidate = std::prev(after)->second;
    if (ip < profile_.modules[candidate].end) module = candidate;
  }
  const std::uint64_t address = module ? ip - profile_.modules[*module].bias : ip;
  const auto key = std::make_pair(module ? *module + 1 : 0, address);
  const auto [entry, made] =
      locations_.emplace(key, static_cast<std::uint32_t>(profile_.locations.size()));
  if (made) {
    profile_.locations.push_back({ProfileLocation::Kind::native, module, address, {}});
  }
  return entry->second;
}

std::uint32_t TraceStacks::known(std::uint64_t node) const {
  if (node >= stack_of_node_.size()) {
    throw std::out_of_range(fmt::format("node {} of {}", node, stack_of_node_.size()));
  }
  return stack_of_node_[node];
}

void TraceStacks::add(std::uint32_t parent, std::uint32_t location) {
  const std::uint64_t key = (std::uint64_t{parent} << 32U) | location;
  const auto [entry, made] = stacks_.emplace(key, profile_.stacks.size());
  if (made) {
    if (profile_.stacks.size() >= kMostNodes) throw std::out_of_range("too many stacks");
    profile_.stacks.push_back({parent, location});
  }
  stack_of_node_.push_back(entry->second);
}

void TraceStacks::add_node(const recorder::events::Node& event) {
  const std::uint32_t parent = known(event.parent);
  last_ip_ += static_cast<std::uint64_t>(event.step);
  add(parent, native_location(last_ip_));
}

void TraceStacks::add_code(const recorder::events::Code<>& event) {
  codes_.emplace_back(event.name, event.file);
}

void TraceStacks::add_python(const recorder::events::Python& event) {
  const std::uint32_t parent = known(event.parent);
  const std::uint64_t code = event.code_object;
  const std::uint64_t line = event.line;
  if (code >= codes_.size()) {
    throw std::out_of_range(fmt::format("code object {} of {}", code, codes_.size()));
  }
  const auto [entry, made] = python_locations_.emplace(
      std::make_pair(code, line), static_cast<std::uint32_t>(profile_.locations.size()));
  if (made) {
    ProfileLocation location;
    location.kind = ProfileLocation::Kind::python;
    location.names.push_back(
        {codes_[code].first, codes_[code].second, checked_number<int>(line, "line")});
    profile_.locations.push_back(std::move(location));
  }
  add(parent, entry->second);
}

void TraceStacks::expect(std::uint64_t nodes) {
  if (nodes > stack_of_node_.size() + kMostLostNodes - lost_)
    throw std::out_of_range(
        fmt::format("node {} after {}: too many are missing", nodes, stack_of_node_.size()));
  const std::pair<std::uint64_t, std::uint64_t> key{~std::uint64_t{0}, 0};
  while (stack_of_node_.size() < nodes) {
    if (lost_++ == 0) {
      profile_.locations.push_back({ProfileLocation::Kind::lost, {}, 0, {}});
      locations_[key] = static_cast<std::uint32_t>(profile_.locations.size() - 1);
    }
    add(0, locations_[key]);
  }
}

void TraceStacks::read_symbols(TraceCursor& cursor) {
  while (!cursor.at_end()) {
    const std::uint64_t module = cursor.number();
    const std::uint64_t at = cursor.number();
    std::vector<FrameName> names = read_names(cursor);
    const auto location = locations_.find({module, at});
    if (location != locations_.end()) {
      profile_.locations[location->second].names = std::move(names);
    }
  }
}

}  // namespace memduel
