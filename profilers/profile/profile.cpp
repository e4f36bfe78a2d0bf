#include "profile/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <unordered_map>

#include "util/error.h"
#include "util/text.h"

namespace memduel {

std::string_view in_words(PageOwner owner) {
  switch (owner) {
    case PageOwner::live:
      return "touched pages of live allocations";
    case PageOwner::fragmentation:
      return "free space in pages that live allocations keep";
    case PageOwner::free:
      return "pages without live allocations that the allocator has not returned";
    case PageOwner::inherited:
      return "from before the fork; their owners are in the parent's profile";
    case PageOwner::mapped:
      return "anonymous memory that the program maps itself";
    case PageOwner::stack:
      return "stacks of threads";
    case PageOwner::file:
      return "mapped files and shared memory";
    case PageOwner::recorder:
      return "the recorder's own pages, part of no sum";
    case PageOwner::other:
      break;
  }
  return "no owner was found";
}

bool is_page_cache(std::string_view file, std::string_view share) {
  return share == kShared && file != kSharedMemory && !file.starts_with("memfd:");
}

double ResidentSnapshot::bytes_of(PageOwner owner) const {
  double sum = 0;
  for (const ResidentPart& part : parts)
    if (part.owner == owner) sum += part.bytes;
  return sum;
}

double ResidentSnapshot::explained_bytes() const {
  double sum = 0;
  for (const ResidentPart& part : parts) {
    const bool counts = part.owner != PageOwner::recorder && part.owner != PageOwner::other;
    if (counts) sum += part.bytes;
  }
  return sum;
}

double ResidentSnapshot::program_bytes() const {
  return kernel_bytes - bytes_of(PageOwner::recorder);
}

double ResidentSnapshot::unexplained_bytes() const {
  return program_bytes() - explained_bytes();
}

double Estimate::half_width() const {
  return 1.959964 * std::sqrt(variance);
}

std::string format_amount(ProfileUnit unit, double amount) {
  switch (unit) {
    case ProfileUnit::bytes:
      return format_bytes(amount);
    case ProfileUnit::nanoseconds:
      return format_seconds(amount * 1e-9);
    case ProfileUnit::samples:
      break;
  }
  return fmt::format("{:.0f}", amount);
}

Estimate total_of(const LiveSites& sites) {
  Estimate total;
  for (const auto& entry : sites) total += entry.second;
  return total;
}

std::optional<double> peak_resident_bytes(const Profile& profile) {
  const std::string fact = profile.fact("peak_rss_bytes");
  if (fact.empty()) return std::nullopt;
  return std::strtod(fact.c_str(), nullptr);
}

std::string to_string(ProfileUnit unit) {
  switch (unit) {
    case ProfileUnit::bytes:
      return "bytes";
    case ProfileUnit::nanoseconds:
      return "nanoseconds";
    case ProfileUnit::samples:
      break;
  }
  return "samples";
}

std::string Profile::fact(const std::string& key, const std::string& otherwise) const {
  const auto found = info.find(key);
  return found == info.end() ? otherwise : found->second;
}

bool Profile::sampled() const {
  return fact("mode") == "sampled";
}

bool Profile::any_allocated() const {
  return std::ranges::any_of(sites,
                             [](const AllocationSite& site) { return site.allocated.samples > 0; });
}

ProfileKind profile_kind_from(const std::string& name) {
  if (const auto kind = from_name<ProfileKind>(name)) return *kind;
  std::vector<std::string> names;
  for (const auto& entry : kNameTable<ProfileKind>) names.emplace_back(entry.second);
  throw Error(ExitCode::usage,
              fmt::format("unknown kind \"{}\"; expected {}", name, fmt::join(names, ", ")), {},
              nearest_advice(name, names));
}

std::string to_string(ProfileKind kind) {
  return std::string(to_name(kind));
}

LiveSites sites_of(const Profile& profile, ProfileKind kind, Heap heap) {
  if (kind == ProfileKind::peak) {
    return heap == Heap::malloc   ? profile.peak.sites
           : heap == Heap::mapped ? profile.mapping_peak.sites
                                  : profile.together_peak.sites;
  }
  if (kind == ProfileKind::resident)
    return heap == Heap::malloc && profile.resident ? profile.resident->sites : LiveSites();
  LiveSites sites;
  for (std::uint32_t i = 0; i < profile.sites.size(); ++i) {
    const AllocationSite& site = profile.sites[i];
    const Estimate& amount = kind == ProfileKind::live        ? site.live
                             : kind == ProfileKind::allocated ? site.allocated
                                                              : site.temporary;
    if (site.heap == heap && amount.samples > 0) sites.emplace_back(i, amount);
  }
  return sites;
}

std::vector<std::pair<std::uint32_t, Estimate>> stacks_of(const Profile& profile,
                                                          const LiveSites& sites) {
  std::unordered_map<std::uint32_t, Estimate> by_stack;
  for (const auto& [site, amount] : sites) by_stack[profile.sites[site].stack] += amount;
  std::vector<std::pair<std::uint32_t, Estimate>> stacks(by_stack.begin(), by_stack.end());
  std::ranges::sort(stacks, [](const auto& a, const auto& b) {
    return a.second.bytes != b.second.bytes ? a.second.bytes > b.second.bytes : a.first < b.first;
  });
  return stacks;
}

std::string describe(const Profile& profile, const ProfileLocation& location) {
  if (!location.names.empty()) return location.names.front().function;
  if (location.kind == ProfileLocation::Kind::lost) return "[lost]";
  if (!location.module) return fmt::format("{:#x}", location.address);
  const std::filesystem::path path = profile.modules[*location.module].path;
  return fmt::format("{}+{:#x}", path.filename().string(), location.address);
}

std::vector<FrameName> frames_of(const Profile& profile, std::uint32_t stack) {
  std::vector<FrameName> frames;
  for (std::uint32_t node = stack; node != 0; node = profile.stacks[node].parent) {
    const ProfileLocation& location = profile.locations[profile.stacks[node].location];
    if (location.names.empty()) {
      frames.push_back({describe(profile, location), {}, 0});
    } else {
      frames.insert(frames.end(), location.names.begin(), location.names.end());
    }
  }
  std::ranges::reverse(frames);
  return frames;
}

}  // namespace memduel
