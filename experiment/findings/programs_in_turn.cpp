#include "experiment/findings/programs_in_turn.h"

#include <algorithm>
#include <map>

#include "base/metric_catalogue.h"

namespace memduel {
namespace {

/// By the exact counters, which it has.
double peak_of(const Profile& profile, Heap heap) {
  const HeapTotals& counters = *profile.counters;
  return static_cast<double>(heap == Heap::malloc    ? counters.peak_bytes
                             : heap == Heap::mapping ? counters.mapping_peak_bytes
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
      const auto program = profile.info.find("program");
      double& peak = programs[program == profile.info.end() ? "" : program->second];
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

}  // namespace memduel
