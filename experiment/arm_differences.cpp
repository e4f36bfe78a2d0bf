#include "experiment/arm_differences.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "experiment/kept_profiles.h"
#include "profilers/profile/load_profile.h"
#include "profilers/profile/profile_difference.h"
#include "profilers/profile/recorded_images.h"

namespace memduel {
namespace {

constexpr std::size_t kMostStacks = 10;
constexpr std::array kKinds = {DifferenceKind::peak, DifferenceKind::live, DifferenceKind::retained,
                               DifferenceKind::allocated, DifferenceKind::allocations};

/// Profiles of one arm by role; of each role by trial.
using ArmProfiles = std::map<std::string, ProfileSide>;

std::vector<Profile> images_of(const std::filesystem::path& folder, const std::string& trial_role,
                               std::vector<Note>& problems) {
  std::vector<Profile> images;
  const std::filesystem::path first = folder / (trial_role + ".mdp");
  for (std::size_t number = 1; std::filesystem::exists(numbered(first, number)); ++number) {
    try {
      images.push_back(load_profile(numbered(first, number)));
    } catch (const Error& error) {
      problems.push_back({"profile_unreadable", error.message(),
                          "where the arms differ is told without this profile"});
    }
  }
  return images;
}

ArmProfiles profiles_of(const std::filesystem::path& folder, const RunData& run,
                        const std::string& arm, std::vector<Note>& problems) {
  ArmProfiles profiles;
  for (const TrialData& trial : run.trials) {
    if (trial.kind != TrialKind::profile || trial.arm != arm) continue;
    for (const RoleData& role : trial.roles) {
      auto images = images_of(folder, fmt::format("{}-{}", trial.id, role.role), problems);
      if (!images.empty()) profiles[role.role].push_back(std::move(images));
    }
  }
  return profiles;
}

/// Names come from other people's files: bytes that are not UTF-8 are replaced.
std::string utf8(const std::string& text) {
  const std::string quoted =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(quoted).get<std::string>();
}

Difference row_of(const StackDifference& stack, const ProfileDifference& whole) {
  Difference row;
  row.kind = to_string(whole.kind);
  row.heap = whole.heap == Heap::malloc ? "malloc" : "mapping";
  for (const std::string& function : stack.stack) row.stack.push_back(utf8(function));
  row.bytes = stack.bytes();
  row.blocks = stack.blocks();
  const double size = whole.kind == DifferenceKind::allocations ? row.blocks : row.bytes;
  row.share = whole.moved > 0 ? std::abs(size) / whole.moved : 0;
  if (!stack.phase.empty()) row.phase = utf8(stack.phase);
  row.baseline_bytes = stack.baseline.bytes;
  row.candidate_bytes = stack.candidate.bytes;
  if (stack.half_width() > 0) row.half_width_bytes = stack.half_width();
  return row;
}

void add_difference(ArmDifferences& found, const ProfileDifference& whole,
                    const std::string& candidate, const std::string& role) {
  if (whole.baseline.samples + whole.candidate.samples == 0) return;
  found.totals.push_back({candidate, role, to_string(whole.kind),
                          whole.heap == Heap::malloc ? "malloc" : "mapping", whole.baseline.bytes,
                          whole.candidate.bytes, whole.unmatched_share,
                          static_cast<int>(whole.stacks.size())});
  for (std::size_t i = 0; i < whole.stacks.size() && i < kMostStacks; ++i) {
    Difference row = row_of(whole.stacks[i], whole);
    row.candidate = candidate;
    row.role = role;
    found.differences.push_back(std::move(row));
  }
}

void compare_arms(ArmDifferences& found, const ArmProfiles& baseline, const ArmProfiles& candidate,
                  const std::string& name) {
  for (const auto& [role, mine] : candidate) {
    const auto other = baseline.find(role);
    if (other == baseline.end()) continue;
    for (const DifferenceKind kind : kKinds)
      for (const Heap heap : {Heap::malloc, Heap::mapping})
        add_difference(found, profile_difference(other->second, mine, kind, heap), name, role);
  }
}

}  // namespace

ArmDifferences arm_differences(const std::filesystem::path& run_directory, const RunData& run) {
  ArmDifferences found;
  const std::string baseline = run.config.value("baseline", std::string());
  std::set<std::string> candidates;
  for (const TrialData& trial : run.trials)
    if (trial.kind == TrialKind::profile && trial.arm != baseline) candidates.insert(trial.arm);
  if (candidates.empty()) return found;
  const auto folder = run_directory / kProfilesFolder;
  const ArmProfiles reference = profiles_of(folder, run, baseline, found.limitations);
  for (const std::string& candidate : candidates)
    compare_arms(found, reference, profiles_of(folder, run, candidate, found.limitations),
                 candidate);
  return found;
}

}  // namespace memduel
