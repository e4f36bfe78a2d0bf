// The amounts of each side by the functions of their stacks, and what two sides differ in.

#include "profile/difference.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>

#include "names/stack_names.h"
#include "profile/function_names.h"

namespace memduel {

/// Frames of a stack that are kept, from the innermost.
inline constexpr std::size_t kWholeStack = std::numeric_limits<std::size_t>::max();

/// The sites of a profile that a question is about.
LiveSites sites_for(const Profile& profile, DifferenceKind kind, Heap heap);

/// The stacks of profiles by their functions.
using NamedProfiles = std::map<const Profile*, StackNames>;

/// Means over the trials of `side`, of each trial the images that the question is about.
NamedSide named_side(const ProfileSide& side, DifferenceKind kind, Heap heap,
                     const NamedProfiles& profiles, std::size_t depth = kWholeStack);

/// What the exact counters beside samples say of the same images: the mean over the trials. Absent
/// where nothing was sampled, an image has no counters, or none of them is the question's.
std::optional<double> counted_total(const ProfileSide& side, DifferenceKind kind, Heap heap);

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

std::string program_of(const Profile& profile) {
  return std::filesystem::path(profile.fact("program")).filename().string();
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
    const double bytes = total_of(image.sites).bytes;
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
    return heap == Heap::mapped ? profile.counters->mapping_peak_bytes
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

double rank_of(const Estimate& amount, DifferenceKind kind) {
  return kind == DifferenceKind::allocations ? amount.count : amount.bytes;
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

NamedSide named_side(const ProfileSide& side, DifferenceKind kind, Heap heap,
                     const NamedProfiles& profiles, std::size_t depth) {
  NamedSide named;
  for (const std::vector<Profile>& trial : side) {
    for (const Profile& profile : trial) {
      const std::vector<std::uint32_t> known = profiles.at(&profile).functions();
      named.functions.insert(named.functions.end(), known.begin(), known.end());
    }
  }
  const Images looked = images_of(side, kind, heap);
  for (const Image& image : looked.images) {
    const StackNames& stacks = profiles.at(image.profile);
    for (const auto& [number, whole] : image.sites) {
      const AllocationSite& site = image.profile->sites[number];
      const Estimate amount = part_of_mean(whole, looked.trials);
      // Which of a runtime's functions needed the next page is chance.
      const std::uint32_t stack = without_runtime(*image.profile, site.stack);
      StackAmount& at = named.amounts[stacks.of(stack, depth)];
      at.total += amount;
      at.by_phase[image.profile->phases[site.phase]] += amount;
      at.sources.push_back({&stacks, stack, rank_of(amount, kind)});
    }
  }
  std::ranges::sort(named.functions);
  named.functions.erase(std::unique(named.functions.begin(), named.functions.end()),
                        named.functions.end());
  return named;
}

namespace {

/// The phase whose own difference is the largest in the direction of the whole.
std::string phase_of(const MatchedStack& stack, DifferenceKind kind) {
  std::map<std::string, double> by_phase;
  for (const auto& [phase, amount] : stack.candidate.by_phase)
    by_phase[phase] += rank_of(amount, kind);
  for (const auto& [phase, amount] : stack.baseline.by_phase)
    by_phase[phase] -= rank_of(amount, kind);
  const double whole = rank_of(stack.candidate.total, kind) - rank_of(stack.baseline.total, kind);
  const auto most = std::ranges::max_element(by_phase, [whole](const auto& a, const auto& b) {
    return whole < 0 ? a.second > b.second : a.second < b.second;
  });
  return most == by_phase.end() ? "" : most->first;
}

bool has_name(const NamedStack& stack, const FunctionNames& names) {
  return std::ranges::any_of(stack,
                             [&](std::uint32_t function) { return names.is_function(function); });
}

std::set<std::string> functions_of(const ProfileSide& side) {
  std::set<std::string> functions;
  for (const std::vector<Profile>& trial : side)
    for (const Profile& profile : trial) functions.merge(compiled_functions(profile));
  return functions;
}

/// Both sides have it, though a function of it under another version's name.
bool was_taken(const MatchedStack& stack, const FunctionNames& names) {
  return stack.in_baseline && stack.in_candidate &&
         std::ranges::any_of(stack.stack,
                             [&](std::uint32_t function) { return names.was_taken(function); });
}

/// By more than chance in the sampling explains.
bool differs(const StackDifference& row, DifferenceKind kind) {
  const bool sampled = row.half_width() > 0;
  const bool by_bytes = std::abs(row.bytes()) >= 0.5 && std::abs(row.bytes()) > row.half_width();
  if (kind != DifferenceKind::allocations) return by_bytes;
  return std::abs(row.blocks()) >= 0.5 && (by_bytes || !sampled);
}

/// The functions of a stack whose lines can be its location, the best first.
std::vector<std::size_t> located_functions(const NamedStack& stack, DifferenceKind kind,
                                           const FunctionNames& names) {
  // The owner of resident pages is no code.
  const std::size_t begin = kind == DifferenceKind::resident ? 1 : 0;
  std::vector<std::string> functions;
  for (std::size_t i = begin; i < stack.size(); ++i) functions.push_back(names.name(stack[i]));
  std::vector<std::size_t> located;
  for (const std::size_t at : frames_with_locations(functions))
    located.push_back(stack[begin + at]);
  return located;
}

LineAmounts lines_of(const StackAmount& amount, std::uint32_t function) {
  LineAmounts lines;
  for (const StackSource& source : amount.sources) {
    const SourceLine line = source.names->line_of(source.stack, function);
    if (!line.file.empty()) lines[line] += source.amount;
  }
  return lines;
}

SourceLine line_of_change(const MatchedStack& stack, DifferenceKind kind,
                          const FunctionNames& names) {
  const bool is_more = rank_of(stack.candidate.total, kind) > rank_of(stack.baseline.total, kind);
  return own_line(located_functions(stack.stack, kind, names), [&](std::size_t function) {
    const LineAmounts baseline = lines_of(stack.baseline, static_cast<std::uint32_t>(function));
    const LineAmounts candidate = lines_of(stack.candidate, static_cast<std::uint32_t>(function));
    return is_more ? changed_line(baseline, candidate) : changed_line(candidate, baseline);
  });
}

}  // namespace

std::string to_string(DifferenceKind kind) {
  return std::string(to_name(kind));
}

double StackDifference::half_width() const {
  Estimate both;
  both.variance = baseline.variance + candidate.variance;
  return both.half_width();
}

struct ComparedSides::Names {
  FunctionNames functions = FunctionNames();
  NamedProfiles profiles = {};

  void add(const ProfileSide& side) {
    for (const std::vector<Profile>& trial : side)
      for (const Profile& profile : trial) profiles.try_emplace(&profile, profile, functions);
  }
};

ComparedSides::ComparedSides(const ProfileSide& baseline, const ProfileSide& candidate)
    : baseline_(&baseline), candidate_(&candidate) {
  auto names = std::make_unique<Names>();
  names->add(baseline);
  names->functions.take(renamed_functions(functions_of(baseline), functions_of(candidate)));
  names->add(candidate);
  names_ = std::move(names);
}

ComparedSides::ComparedSides(ComparedSides&&) noexcept = default;
ComparedSides& ComparedSides::operator=(ComparedSides&&) noexcept = default;
ComparedSides::~ComparedSides() = default;

ProfileDifference ComparedSides::difference(DifferenceKind kind, Heap heap,
                                            const SourceRoots& roots) const {
  const FunctionNames& names = names_->functions;
  const NamedSide a = named_side(*baseline_, kind, heap, names_->profiles);
  const NamedSide b = named_side(*candidate_, kind, heap, names_->profiles);
  ProfileDifference difference;
  difference.kind = kind;
  difference.heap = heap;
  difference.counted_baseline = counted_total(*baseline_, kind, heap);
  difference.counted_candidate = counted_total(*candidate_, kind, heap);
  double unmatched = 0;
  double guessed = 0;
  for (const MatchedStack& stack : match_stacks(a, b)) {
    StackDifference row;
    row.baseline = stack.baseline.total;
    row.candidate = stack.candidate.total;
    difference.baseline += row.baseline;
    difference.candidate += row.candidate;
    const bool one_sided = !stack.in_baseline || !stack.in_candidate;
    if ((one_sided && differs(row, kind)) || !has_name(stack.stack, names))
      unmatched += row.baseline.bytes + row.candidate.bytes;
    else if (stack.guessed || was_taken(stack, names))
      guessed += row.baseline.bytes + row.candidate.bytes;
    difference.moved += std::abs(rank_of(row.candidate, kind) - rank_of(row.baseline, kind));
    if (!differs(row, kind)) continue;
    for (const std::uint32_t function : stack.stack) row.stack.push_back(names.name(function));
    row.phase = phase_of(stack, kind);
    row.location = location_text(line_of_change(stack, kind, names), roots);
    difference.stacks.push_back(std::move(row));
  }
  const double whole = difference.baseline.bytes + difference.candidate.bytes;
  if (whole > 0) difference.unmatched_share = unmatched / whole;
  if (whole > 0) difference.guessed_share = guessed / whole;
  std::ranges::stable_sort(
      difference.stacks, [kind](const StackDifference& x, const StackDifference& y) {
        const auto size = [kind](const StackDifference& row) {
          return std::abs(kind == DifferenceKind::allocations ? row.blocks() : row.bytes());
        };
        return size(x) > size(y);
      });
  return difference;
}

ProfileDifference profile_difference(const ProfileSide& baseline, const ProfileSide& candidate,
                                     DifferenceKind kind, Heap heap, const SourceRoots& roots) {
  return ComparedSides(baseline, candidate).difference(kind, heap, roots);
}

}  // namespace memduel
