#include "profilers/profile/questions/named_side.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "profilers/profile/names/named_memory.h"
#include "profilers/profile/questions/counted_once.h"

namespace memduel {
namespace {

LiveSites retained_sites(const Profile& profile) {
  int last = 0;
  for (const RetentionCell& cell : profile.retention) last = std::max(last, cell.end);
  LiveSites sites;
  for (const RetentionCell& cell : profile.retention)
    if (cell.end == last && cell.born > 0)
      sites.insert(sites.end(), cell.sites.begin(), cell.sites.end());
  return sites;
}

bool adds_up(DifferenceKind kind) {
  return kind == DifferenceKind::allocated || kind == DifferenceKind::allocations;
}

Estimate sum_of(const LiveSites& sites) {
  Estimate sum;
  for (const auto& entry : sites) sum += entry.second;
  return sum;
}

std::string program_of(const Profile& profile) {
  const auto program = profile.info.find("program");
  if (program == profile.info.end()) return {};
  return std::filesystem::path(program->second).filename().string();
}

struct Image {
  const Profile* profile = nullptr;
  LiveSites sites;
};

/// The images of one trial that the question is about.
std::vector<Image> images_of_trial(const std::vector<Profile>& trial, DifferenceKind kind,
                                   Heap heap) {
  std::vector<Image> all;
  std::map<std::string, std::pair<double, Image>> largest;
  for (const Profile& profile : trial) {
    Image image{&profile, sites_for(profile, kind, heap)};
    if (adds_up(kind)) {
      all.push_back(std::move(image));
      continue;
    }
    const double bytes = sum_of(image.sites).bytes;
    const auto [entry, first] = largest.try_emplace(program_of(profile), bytes, image);
    if (!first && bytes > entry->second.first) entry->second = {bytes, std::move(image)};
  }
  for (auto& [program, entry] : largest) all.push_back(std::move(entry.second));
  return all;
}

/// Those of a side, and over how many trials their mean is taken.
struct Images {
  std::vector<Image> images;
  std::size_t trials = 1;
};

Images images_of(const ProfileSide& side, DifferenceKind kind, Heap heap) {
  if (kind == DifferenceKind::resident) {
    const std::vector<const Profile*> processes = snapshots_at_once(side);
    std::vector<LiveSites> sites = sites_counted_once(processes);
    if (heap != Heap::malloc || processes.empty()) return {};
    Images looked;
    for (std::size_t i = 0; i < processes.size(); ++i)
      looked.images.push_back({processes[i], std::move(sites[i])});
    return looked;
  }
  Images found{{}, side.size()};
  for (const std::vector<Profile>& trial : side)
    for (Image& image : images_of_trial(trial, kind, heap))
      found.images.push_back(std::move(image));
  return found;
}

std::optional<std::int64_t> counter_of(const Profile& profile, DifferenceKind kind, Heap heap) {
  if (!profile.counters) return std::nullopt;
  if (heap != Heap::malloc) {
    if (kind != DifferenceKind::peak) return std::nullopt;
    return heap == Heap::mapping ? profile.counters->mapping_peak_bytes
                                 : profile.counters->together_peak_bytes;
  }
  switch (kind) {
    case DifferenceKind::peak:
      return profile.counters->peak_bytes;
    case DifferenceKind::live:
      return profile.counters->live_bytes;
    case DifferenceKind::allocated:
      return profile.counters->allocated_bytes;
    case DifferenceKind::retained:
    case DifferenceKind::allocations:
    case DifferenceKind::resident:
      break;
  }
  return std::nullopt;
}

/// One of `trials`, as its part of their mean.
Estimate part_of_mean(const Estimate& amount, std::size_t trials) {
  const auto n = static_cast<double>(trials);
  return {amount.bytes / n, amount.count / n, amount.variance / (n * n), amount.samples};
}

}  // namespace

LiveSites sites_for(const Profile& profile, DifferenceKind kind, Heap heap) {
  switch (kind) {
    case DifferenceKind::peak:
      return sites_of(profile, ProfileKind::peak, heap);
    case DifferenceKind::live:
      return sites_of(profile, ProfileKind::live, heap);
    case DifferenceKind::retained:
      return heap == Heap::malloc ? retained_sites(profile) : LiveSites();
    case DifferenceKind::allocated:
    case DifferenceKind::allocations:
      return sites_of(profile, ProfileKind::allocated, heap);
    case DifferenceKind::resident:
      return sites_of(profile, ProfileKind::resident, heap);
  }
  return {};
}

std::optional<double> counted_total(const ProfileSide& side, DifferenceKind kind, Heap heap) {
  double sum = 0;
  bool sampled = false;
  const Images looked = images_of(side, kind, heap);
  for (const Image& image : looked.images) {
    const auto counted = counter_of(*image.profile, kind, heap);
    if (!counted) return std::nullopt;
    sum += static_cast<double>(*counted);
    sampled = sampled || image.profile->sampled();
  }
  if (!sampled) return std::nullopt;
  return sum / static_cast<double>(looked.trials);
}

NamedSide named_side(const ProfileSide& side, DifferenceKind kind, Heap heap, FunctionNames& names,
                     std::size_t depth) {
  NamedSide named;
  for (const std::vector<Profile>& trial : side) {
    for (const Profile& profile : trial) {
      const std::vector<std::uint32_t> known = StackNames(profile, names).functions();
      named.functions.insert(named.functions.end(), known.begin(), known.end());
    }
  }
  const Images looked = images_of(side, kind, heap);
  for (const Image& image : looked.images) {
    const StackNames stacks(*image.profile, names);
    for (const auto& [number, whole] : image.sites) {
      const AllocationSite& site = image.profile->sites[number];
      const Estimate amount = part_of_mean(whole, looked.trials);
      // Which of a runtime's functions needed the next page is chance.
      const std::uint32_t stack = without_runtime(*image.profile, site.stack);
      StackAmount& at = named.amounts[stacks.of(stack, depth)];
      at.total += amount;
      at.by_phase[image.profile->phases[site.phase]] += amount;
    }
  }
  std::ranges::sort(named.functions);
  named.functions.erase(std::unique(named.functions.begin(), named.functions.end()),
                        named.functions.end());
  return named;
}

}  // namespace memduel
