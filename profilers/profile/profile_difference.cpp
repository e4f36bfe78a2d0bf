#include "profilers/profile/profile_difference.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "profilers/profile/stack_matching.h"

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
  }
  return {};
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
std::vector<Image> images_of(const std::vector<Profile>& trial, DifferenceKind kind, Heap heap) {
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

/// One of `trials`, as its part of their mean.
Estimate part_of_mean(const Estimate& amount, std::size_t trials) {
  const auto n = static_cast<double>(trials);
  return {amount.bytes / n, amount.count / n, amount.variance / (n * n), amount.samples};
}

NamedSide named_side(const ProfileSide& side, DifferenceKind kind, Heap heap,
                     FunctionNames& names) {
  NamedSide named;
  for (const std::vector<Profile>& trial : side) {
    for (const Profile& profile : trial) {
      const std::vector<std::uint32_t> known = StackNames(profile, names).functions();
      named.functions.insert(named.functions.end(), known.begin(), known.end());
    }
    for (const Image& image : images_of(trial, kind, heap)) {
      const StackNames stacks(*image.profile, names);
      for (const auto& [number, whole] : image.sites) {
        const AllocationSite& site = image.profile->sites[number];
        const Estimate amount = part_of_mean(whole, side.size());
        StackAmount& at = named.amounts[stacks.of(site.stack)];
        at.total += amount;
        at.by_phase[image.profile->phases[site.phase]] += amount;
      }
    }
  }
  std::sort(named.functions.begin(), named.functions.end());
  named.functions.erase(std::unique(named.functions.begin(), named.functions.end()),
                        named.functions.end());
  return named;
}

double rank_of(const Estimate& amount, DifferenceKind kind) {
  return kind == DifferenceKind::allocations ? amount.count : amount.bytes;
}

/// The phase whose own difference is the largest in the direction of the whole.
std::string phase_of(const MatchedStack& stack, DifferenceKind kind) {
  std::map<std::string, double> by_phase;
  for (const auto& [phase, amount] : stack.candidate.by_phase)
    by_phase[phase] += rank_of(amount, kind);
  for (const auto& [phase, amount] : stack.baseline.by_phase)
    by_phase[phase] -= rank_of(amount, kind);
  const double whole = rank_of(stack.candidate.total, kind) - rank_of(stack.baseline.total, kind);
  const auto most =
      std::max_element(by_phase.begin(), by_phase.end(), [whole](const auto& a, const auto& b) {
        return whole < 0 ? a.second > b.second : a.second < b.second;
      });
  return most == by_phase.end() ? "" : most->first;
}

bool has_name(const NamedStack& stack, const FunctionNames& names) {
  return std::any_of(stack.begin(), stack.end(),
                     [&](std::uint32_t function) { return names.is_function(function); });
}

/// By more than chance in the sampling explains.
bool differs(const StackDifference& row, DifferenceKind kind) {
  const bool sampled = row.half_width() > 0;
  const bool by_bytes = std::abs(row.bytes()) >= 0.5 && std::abs(row.bytes()) > row.half_width();
  if (kind != DifferenceKind::allocations) return by_bytes;
  return std::abs(row.blocks()) >= 0.5 && (by_bytes || !sampled);
}

}  // namespace

std::string to_string(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::peak:
      return "peak";
    case DifferenceKind::live:
      return "live";
    case DifferenceKind::retained:
      return "retained";
    case DifferenceKind::allocated:
      return "allocated";
    case DifferenceKind::allocations:
      return "allocations";
  }
  return "";
}

double StackDifference::half_width() const {
  Estimate both;
  both.variance = baseline.variance + candidate.variance;
  return both.half_width();
}

ProfileDifference profile_difference(const ProfileSide& baseline, const ProfileSide& candidate,
                                     DifferenceKind kind, Heap heap) {
  FunctionNames names;
  const NamedSide a = named_side(baseline, kind, heap, names);
  const NamedSide b = named_side(candidate, kind, heap, names);
  ProfileDifference difference;
  difference.kind = kind;
  difference.heap = heap;
  double unmatched = 0;
  for (const MatchedStack& stack : match_stacks(a, b)) {
    StackDifference row;
    row.baseline = stack.baseline.total;
    row.candidate = stack.candidate.total;
    difference.baseline += row.baseline;
    difference.candidate += row.candidate;
    if (!stack.in_baseline || !stack.in_candidate || !has_name(stack.stack, names))
      unmatched += row.baseline.bytes + row.candidate.bytes;
    difference.moved += std::abs(rank_of(row.candidate, kind) - rank_of(row.baseline, kind));
    if (!differs(row, kind)) continue;
    for (const std::uint32_t function : stack.stack) row.stack.push_back(names.name(function));
    row.phase = phase_of(stack, kind);
    difference.stacks.push_back(std::move(row));
  }
  const double whole = difference.baseline.bytes + difference.candidate.bytes;
  if (whole > 0) difference.unmatched_share = unmatched / whole;
  std::stable_sort(
      difference.stacks.begin(), difference.stacks.end(),
      [kind](const StackDifference& x, const StackDifference& y) {
        const auto size = [kind](const StackDifference& row) {
          return std::abs(kind == DifferenceKind::allocations ? row.blocks() : row.bytes());
        };
        return size(x) > size(y);
      });
  return difference;
}

}  // namespace memduel
