// What the profile trials of a run say: where the arms differ, stack against stack, which programs
// ran in turn, and what is live at the ends of rounds.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <set>

#include "external/profile_names.h"
#include "findings.h"
#include "model/metric_catalogue.h"
#include "model/run_directory.h"
#include "profile/difference.h"
#include "run/store.h"
#include "util/error.h"
#include "util/process.h"
#include "util/text.h"

namespace memduel {
namespace {

/// By the exact counters, which it has.
double peak_of(const Profile& profile, Heap heap) {
  const HeapTotals& counters = *profile.counters;
  return static_cast<double>(heap == Heap::malloc   ? counters.peak_bytes
                             : heap == Heap::mapped ? counters.mapping_peak_bytes
                                                    : counters.together_peak_bytes);
}

bool all_counted(const std::vector<Profile>& trial) {
  return std::ranges::all_of(trial,
                             [](const Profile& profile) { return profile.counters.has_value(); });
}

}  // namespace

std::vector<double> measured_peaks(const RunData& run, const std::string& arm,
                                   const std::string& role) {
  std::vector<double> peaks;
  for (const TrialData& trial : run.trials) {
    if (trial.kind != TrialKind::profile || trial.arm != arm) continue;
    if (const auto peak = trial.value(role, kPeakHeap)) peaks.push_back(*peak);
  }
  return peaks;
}

bool ran_in_turn(const ProfileSide& side, const std::vector<double>& measured) {
  constexpr double kSlack = 1.05;
  constexpr double kSlackBytes = 1 << 20;
  if (measured.empty()) return false;
  const double most = *std::ranges::max_element(measured);
  return std::ranges::any_of(side, [&](const std::vector<Profile>& trial) {
    if (!all_counted(trial)) return false;
    std::map<std::string, double> programs;  // of several images of one the largest counts
    for (const Profile& profile : trial) {
      double& peak = programs[profile.fact("program")];
      peak = std::max(peak, peak_of(profile, Heap::malloc));
    }
    double sum = 0;
    for (const auto& entry : programs) sum += entry.second;
    return sum > most * kSlack + kSlackBytes;
  });
}

ProfileSide only_largest(const ProfileSide& side, Heap heap) {
  ProfileSide largest;
  for (const std::vector<Profile>& trial : side)
    if (!trial.empty() && all_counted(trial))
      largest.push_back({*std::ranges::max_element(
          trial, {}, [heap](const Profile& profile) { return peak_of(profile, heap); })});
  return largest;
}

namespace {

constexpr std::size_t kMostStacks = 10;
constexpr std::size_t kMostResidentStacks = 24;  // the steps of a waterfall
constexpr std::array kKinds = {DifferenceKind::peak,        DifferenceKind::live,
                               DifferenceKind::retained,    DifferenceKind::allocated,
                               DifferenceKind::allocations, DifferenceKind::resident};

/// Profiles of one arm by role; of each role by trial.
using ArmProfiles = std::map<std::string, ProfileSide>;

/// A profile of a whole run of a process image.
struct KeptImage {
  ProfileName name;
  std::filesystem::path file;
};

std::vector<KeptImage> kept_images(const std::filesystem::path& run_directory) {
  std::vector<KeptImage> images;
  for (const std::filesystem::path& file : kept_profiles(run_directory)) {
    const auto name = profile_name_from(file.filename().string());
    if (name && !name->round) images.push_back({*name, file});
  }
  return images;
}

/// Of all trials of an arm that a tracer looked at.
std::vector<KeptImage> images_of(const std::vector<KeptImage>& all, const RunData& run,
                                 const std::string& arm, const std::string& tracer) {
  std::vector<KeptImage> found;
  for (const TrialData& trial : run.trials) {
    if (trial.kind != TrialKind::profile || trial.arm != arm || trial.tracer != tracer) continue;
    std::ranges::copy_if(all, std::back_inserter(found), [&](const KeptImage& image) {
      return image.name.trial == trial.id && image.name.tracer == tracer;
    });
  }
  return found;
}

ArmProfiles read_images(const std::vector<KeptImage>& images, ProfileReader& reader,
                        std::vector<Note>& problems) {
  std::vector<std::optional<Profile>> read(images.size());
  std::vector<std::string> why(images.size());
  run_parallel(images.size(), [&](std::size_t i) {
    try {
      read[i] = reader.read(images[i].file);
    } catch (const Error& error) {
      why[i] = error.message();
    }
  });
  std::map<std::pair<std::string, std::int64_t>, std::vector<Profile>> by_trial;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const ProfileName& name = images[i].name;
    if (read[i])
      by_trial[{name.role, name.trial}].push_back(std::move(*read[i]));
    else
      problems.push_back({"profile_unreadable", why[i],
                          "the differences between the variants do not include this profile"});
  }
  ArmProfiles profiles;
  for (auto& [looked, trial] : by_trial) profiles[looked.first].push_back(std::move(trial));
  return profiles;
}

/// The recorder if both arms have profiles by it, else the first tracer of the run by which both
/// have.
std::optional<std::string> tracer_of_both(const std::vector<KeptImage>& all, const RunData& run,
                                          const std::string& baseline,
                                          const std::string& candidate) {
  std::vector<std::string> order = {kRecorderTracer};
  for (const TrialData& trial : run.trials)
    if (trial.kind == TrialKind::profile) order.push_back(trial.tracer);
  for (const std::string& tracer : order) {
    if (!images_of(all, run, baseline, tracer).empty() &&
        !images_of(all, run, candidate, tracer).empty())
      return tracer;
  }
  return std::nullopt;
}

Difference row_of(const StackDifference& stack, const ProfileDifference& whole) {
  Difference row;
  row.kind = to_string(whole.kind);
  row.heap = to_name(whole.heap);
  for (const std::string& function : stack.stack) row.stack.push_back(valid_utf8(function));
  row.bytes = stack.bytes();
  row.blocks = stack.blocks();
  const double size = whole.kind == DifferenceKind::allocations ? row.blocks : row.bytes;
  row.share = whole.moved > 0 ? std::abs(size) / whole.moved : 0;
  if (!stack.phase.empty()) row.phase = valid_utf8(stack.phase);
  row.baseline_bytes = stack.baseline.bytes;
  row.candidate_bytes = stack.candidate.bytes;
  if (stack.half_width() > 0) row.half_width_bytes = stack.half_width();
  row.location = valid_utf8(stack.location);
  return row;
}

/// @param is_alone whether there is no baseline
void add_difference(ArmDifferences& found, const ProfileDifference& whole,
                    const std::string& candidate, const std::string& role, bool is_alone) {
  if (whole.baseline.samples + whole.candidate.samples == 0) return;
  const bool counted = (whole.counted_baseline || is_alone) && whole.counted_candidate;
  found.totals.push_back({candidate, role, to_string(whole.kind), std::string(to_name(whole.heap)),
                          counted ? whole.counted_baseline.value_or(0) : whole.baseline.bytes,
                          counted ? *whole.counted_candidate : whole.candidate.bytes,
                          whole.unmatched_share, static_cast<int>(whole.stacks.size()),
                          whole.guessed_share});
  const std::size_t most =
      whole.kind == DifferenceKind::resident ? kMostResidentStacks : kMostStacks;
  for (std::size_t i = 0; i < whole.stacks.size() && i < most; ++i) {
    Difference row = row_of(whole.stacks[i], whole);
    row.candidate = candidate;
    row.role = role;
    found.differences.push_back(std::move(row));
  }
}

void compare_arms(ArmDifferences& found, const RunData& run, const ArmProfiles& baseline,
                  const ArmProfiles& candidate, const std::string& name, const SourceRoots& roots) {
  const std::string reference = run.config.baseline;
  struct Question {
    const std::string* role;
    std::size_t sides;
    DifferenceKind kind;
    Heap heap;
  };
  std::vector<Question> questions;
  std::vector<std::pair<const ProfileSide*, const ProfileSide*>> sides;
  std::list<ProfileSide> narrowed;  // of roles whose programs did not hold their peaks at once
  for (const auto& [role, mine] : candidate) {
    const auto other = baseline.find(role);
    if (other == baseline.end()) continue;
    const bool in_turn = ran_in_turn(other->second, measured_peaks(run, reference, role)) ||
                         ran_in_turn(mine, measured_peaks(run, name, role));
    const std::size_t whole = sides.size();
    sides.emplace_back(&other->second, &mine);
    for (const DifferenceKind kind : kKinds) {
      for (const Heap heap : {Heap::malloc, Heap::mapped, Heap::both}) {
        if (heap == Heap::both && kind != DifferenceKind::peak) continue;
        Question question{&role, whole, kind, heap};
        if (in_turn && kind == DifferenceKind::peak) {
          question.sides = sides.size();
          const ProfileSide& a = narrowed.emplace_back(only_largest(other->second, heap));
          const ProfileSide& b = narrowed.emplace_back(only_largest(mine, heap));
          sides.emplace_back(&a, &b);
        }
        questions.push_back(question);
      }
    }
  }
  std::vector<std::optional<ComparedSides>> compared(sides.size());
  run_parallel(sides.size(),
               [&](std::size_t i) { compared[i].emplace(*sides[i].first, *sides[i].second); });
  std::vector<ProfileDifference> answers(questions.size());
  run_parallel(questions.size(), [&](std::size_t i) {
    const Question& of = questions[i];
    answers[i] = compared[of.sides]->difference(of.kind, of.heap, roots);
  });
  for (std::size_t i = 0; i < questions.size(); ++i)
    add_difference(found, answers[i], name, *questions[i].role, name == reference);
}

double sum_of_parts(const std::vector<ResidentPart>& parts) {
  double sum = 0;
  for (const ResidentPart& part : parts) sum += part.bytes;
  return sum;
}

/// Where most was resident.
void take_moment(ResidentMemory& memory, const std::vector<const Profile*>& processes) {
  const Profile* largest = *std::ranges::max_element(
      processes, {}, [](const Profile* process) { return process->resident->program_bytes(); });
  const ResidentSnapshot& snapshot = *largest->resident;
  memory.round = snapshot.round;
  if (!snapshot.phase.empty()) memory.phase = valid_utf8(snapshot.phase);
  memory.seconds = snapshot.seconds;
}

ResidentMemory memory_of(const std::vector<const Profile*>& processes) {
  ResidentMemory memory;
  memory.processes = static_cast<int>(processes.size());
  take_moment(memory, processes);
  const std::vector<std::vector<ResidentPart>> counted = parts_counted_once(processes);
  std::map<std::pair<PageOwner, std::string>, double> owners;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const ResidentSnapshot& snapshot = *processes[i]->resident;
    const double again = sum_of_parts(snapshot.parts) - sum_of_parts(counted[i]);
    memory.bytes += snapshot.program_bytes() - again;
    memory.counted_again_bytes += again;
    memory.recorder_bytes += snapshot.bytes_of(PageOwner::recorder);
    memory.swapped_bytes += snapshot.swapped_bytes;
    for (const auto& entry : snapshot.untouched) memory.untouched_bytes += entry.second.bytes;
    double unexplained = snapshot.unexplained_bytes();
    for (const ResidentPart& part : counted[i]) {
      if (part.owner == PageOwner::recorder) continue;
      owners[{part.owner, part.name}] += part.bytes;
      if (part.owner == PageOwner::other) unexplained -= part.bytes;
      if (part.owner == PageOwner::file && is_page_cache(part.name, part.share))
        memory.page_cache_bytes += part.bytes;
    }
    owners[{PageOwner::other, ""}] += unexplained;
  }
  for (const auto& [owner, bytes] : owners)
    memory.owners.push_back({std::string(to_name(owner.first)), valid_utf8(owner.second), bytes});
  return memory;
}

void add_resident(ArmDifferences& found, const ArmProfiles& profiles, const std::string& arm) {
  for (const auto& [role, side] : profiles) {
    const std::vector<const Profile*> processes = snapshots_at_once(side);
    if (processes.empty()) continue;
    ResidentMemory memory = memory_of(processes);
    memory.arm = arm;
    memory.role = role;
    found.resident.push_back(std::move(memory));
  }
}

}  // namespace

SourceRoots source_roots(const std::filesystem::path& run_directory, const Document& config) {
  SourceRoots roots;
  const auto add = [&](const std::filesystem::path& directory) {
    if (!directory.is_absolute() || directory.native().find('{') != std::string::npos) return;
    std::error_code unreachable;
    for (const auto& root : {directory, std::filesystem::weakly_canonical(directory, unreachable)})
      if (!root.empty() && std::ranges::find(roots, root) == roots.end()) roots.push_back(root);
  };
  const std::filesystem::path worktrees =
      std::filesystem::absolute(run_directory) / kWorktreesFolder;
  for (const char* side : {"a", "b"}) add(worktrees / side);
  for (const JobProcess& process : config.workload.job.processes) add(process.cwd);
  for (const Variant& variant : config.variants) add(variant.cwd.value_or(""));
  add(config.workload.job.cwd);
  return roots;
}

namespace {

/// Of a run's only variant: everything that it has, which is its difference from nothing.
ArmDifferences stacks_of_only_variant(const std::filesystem::path& run_directory,
                                      const RunData& run, ProfileReader& reader) {
  ArmDifferences found;
  const std::string& variant = run.config.baseline;
  const std::vector<KeptImage> all = kept_images(run_directory);
  const auto tracer = tracer_of_both(all, run, variant, variant);
  if (!tracer) return found;
  const ArmProfiles profiles =
      read_images(images_of(all, run, variant, *tracer), reader, found.limitations);
  ArmProfiles nothing;
  for (const auto& [role, side] : profiles) nothing[role];
  add_resident(found, profiles, variant);
  compare_arms(found, run, nothing, profiles, variant, source_roots(run_directory, run.config));
  return found;
}

}  // namespace

ArmDifferences arm_differences(const std::filesystem::path& run_directory, const RunData& run,
                               ProfileReader& reader) {
  if (run.config.variants.size() == 1) return stacks_of_only_variant(run_directory, run, reader);
  ArmDifferences found;
  const std::string baseline = run.config.baseline;
  std::set<std::string> candidates;
  for (const TrialData& trial : run.trials)
    if (trial.kind == TrialKind::profile && trial.arm != baseline) candidates.insert(trial.arm);
  if (candidates.empty()) return found;
  const std::vector<KeptImage> all = kept_images(run_directory);
  const SourceRoots roots = source_roots(run_directory, run.config);
  std::map<std::string, ArmProfiles> references;  // of the baseline, by tracer
  for (const std::string& candidate : candidates) {
    const auto tracer = tracer_of_both(all, run, baseline, candidate);
    if (!tracer) continue;
    const auto profiles_of = [&](const std::string& arm) {
      return read_images(images_of(all, run, arm, *tracer), reader, found.limitations);
    };
    if (!references.contains(*tracer)) {
      references[*tracer] = profiles_of(baseline);
      add_resident(found, references[*tracer], baseline);
    }
    const ArmProfiles profiles = profiles_of(candidate);
    add_resident(found, profiles, candidate);
    compare_arms(found, run, references[*tracer], profiles, candidate, roots);
  }
  return found;
}

namespace {

/// The recorder's files of a role in the first trial that has any.
std::vector<std::filesystem::path> recorded_images(const std::filesystem::path& run_directory,
                                                   const RunData& run, const std::string& arm,
                                                   const std::string& role) {
  const std::vector<std::filesystem::path> files = kept_profiles(run_directory);
  for (const TrialData& trial : run.trials) {
    if (trial.kind != TrialKind::profile || trial.arm != arm || trial.tracer != kRecorderTracer)
      continue;
    std::vector<std::filesystem::path> images;
    for (const std::filesystem::path& file : files) {
      const auto name = profile_name_from(file.filename().string());
      if (name && name->trial == trial.id && name->role == role &&
          name->tracer == kRecorderTracer && !name->round)
        images.push_back(file);
    }
    if (!images.empty()) return images;
  }
  return {};
}

double bytes_at_last_end(const LiveAtRoundEnds& live) {
  double sum = 0;
  for (const LiveStack& stack : live.stacks) sum += stack.bytes.back();
  return sum;
}

}  // namespace

std::optional<LiveAtRoundEnds> kept_round_ends(const std::filesystem::path& run_directory,
                                               const RunData& run, const std::string& arm,
                                               const std::string& role, ProfileReader& reader,
                                               std::vector<Note>& problems) {
  std::optional<LiveAtRoundEnds> largest;
  const SourceRoots roots = source_roots(run_directory, run.config);
  for (const std::filesystem::path& file : recorded_images(run_directory, run, arm, role)) {
    try {
      LiveAtRoundEnds live = live_at_round_ends(reader.read(file), roots);
      const bool more = !largest || bytes_at_last_end(live) > bytes_at_last_end(*largest);
      if (!live.rounds.empty() && more) largest = std::move(live);
    } catch (const Error& error) {
      problems.push_back({"profile_unreadable", error.message(),
                          "the growing stacks do not include this profile"});
    }
  }
  return largest;
}

}  // namespace memduel
