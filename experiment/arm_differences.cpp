#include "experiment/arm_differences.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/profile_name.h"
#include "base/text.h"
#include "experiment/kept_profiles.h"
#include "profilers/profile/profile_difference.h"
#include "profilers/readers/registry.h"
#include "profilers/tracers/registry.h"

namespace memduel {
namespace {

constexpr std::size_t kMostStacks = 10;
constexpr std::array kKinds = {DifferenceKind::peak, DifferenceKind::live, DifferenceKind::retained,
                               DifferenceKind::allocated, DifferenceKind::allocations};

/// Profiles of one arm by role; of each role by trial.
using ArmProfiles = std::map<std::string, ProfileSide>;

std::vector<Profile> images_of(const std::filesystem::path& folder, const ProfileName& first,
                               std::vector<Note>& problems) {
  std::vector<Profile> images;
  ProfileName name = first;
  for (; std::filesystem::exists(folder / to_text(name)); ++name.image) {
    try {
      images.push_back(read_profile(folder / to_text(name)));
    } catch (const Error& error) {
      problems.push_back({"profile_unreadable", error.message(),
                          "where the arms differ is told without this profile"});
    }
  }
  return images;
}

/// The trials of an arm that a tracer looked at.
bool is_profile_of(const TrialData& trial, const std::string& arm, const std::string& tracer) {
  return trial.kind == TrialKind::profile && trial.arm == arm && trial.tracer == tracer;
}

ArmProfiles profiles_of(const std::filesystem::path& folder, const RunData& run,
                        const std::string& arm, const std::string& tracer,
                        std::vector<Note>& problems) {
  ArmProfiles profiles;
  for (const TrialData& trial : run.trials) {
    if (!is_profile_of(trial, arm, tracer)) continue;
    for (const RoleData& role : trial.roles) {
      auto images = images_of(folder, {trial.id, role.role, 1, {}, tracer}, problems);
      if (!images.empty()) profiles[role.role].push_back(std::move(images));
    }
  }
  return profiles;
}

bool left_profiles(const std::filesystem::path& folder, const RunData& run, const std::string& arm,
                   const std::string& tracer) {
  for (const TrialData& trial : run.trials) {
    if (!is_profile_of(trial, arm, tracer)) continue;
    for (const RoleData& role : trial.roles)
      if (std::filesystem::exists(folder /
                                  to_text(ProfileName{trial.id, role.role, 1, {}, tracer})))
        return true;
  }
  return false;
}

/// The recorder where both arms have profiles by it, else the first such tracer of the run.
std::optional<std::string> tracer_of_both(const std::filesystem::path& folder, const RunData& run,
                                          const std::string& baseline,
                                          const std::string& candidate) {
  std::vector<std::string> order = {kRecorderTracer};
  for (const TrialData& trial : run.trials)
    if (trial.kind == TrialKind::profile) order.push_back(trial.tracer);
  for (const std::string& tracer : order) {
    if (tracer_named(tracer).records_heap && left_profiles(folder, run, baseline, tracer) &&
        left_profiles(folder, run, candidate, tracer))
      return tracer;
  }
  return std::nullopt;
}

Difference row_of(const StackDifference& stack, const ProfileDifference& whole) {
  Difference row;
  row.kind = to_string(whole.kind);
  row.heap = whole.heap == Heap::malloc ? "malloc" : "mapping";
  for (const std::string& function : stack.stack) row.stack.push_back(valid_utf8(function));
  row.bytes = stack.bytes();
  row.blocks = stack.blocks();
  const double size = whole.kind == DifferenceKind::allocations ? row.blocks : row.bytes;
  row.share = whole.moved > 0 ? std::abs(size) / whole.moved : 0;
  if (!stack.phase.empty()) row.phase = valid_utf8(stack.phase);
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
  std::map<std::string, ArmProfiles> references;  // of the baseline, by tracer
  for (const std::string& candidate : candidates) {
    const auto tracer = tracer_of_both(folder, run, baseline, candidate);
    if (!tracer) continue;
    if (!references.contains(*tracer))
      references[*tracer] = profiles_of(folder, run, baseline, *tracer, found.limitations);
    compare_arms(found, references[*tracer],
                 profiles_of(folder, run, candidate, *tracer, found.limitations), candidate);
  }
  return found;
}

}  // namespace memduel
