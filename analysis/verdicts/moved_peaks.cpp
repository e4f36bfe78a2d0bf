#include "analysis/verdicts/moved_peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/statistics/hodges_lehmann.h"
#include "base/metric_catalogue.h"

namespace memduel {
namespace {

constexpr double kClear = 1.02;  ///< times the other phase's peak

/// Each phase's largest resident set in a trial, the median over the trials.
using PhasePeaks = std::map<std::string, double>;

void add_trial(std::map<std::string, std::vector<double>>& all, const RoleData& role) {
  PhasePeaks largest;
  for (const RoundData& round : role.rounds) {
    for (const PhaseData& phase : round.phases) {
      const auto peak = phase.metrics.value(kPeakRss);
      if (!peak) continue;
      double& known = largest[phase.phase];
      known = std::max(known, *peak);
    }
  }
  for (const auto& [phase, bytes] : largest) all[phase].push_back(bytes);
}

PhasePeaks peaks_of(const RunData& run, const std::string& arm, const std::string& role) {
  std::map<std::string, std::vector<double>> all;
  for (const TrialData& trial : run.trials) {
    if (!trial.counts() || trial.arm != arm) continue;
    for (const RoleData& each : trial.roles)
      if (each.role == role) add_trial(all, each);
  }
  PhasePeaks peaks;
  for (auto& [phase, values] : all) peaks[phase] = median(std::move(values));
  return peaks;
}

PhasePeaks::const_iterator largest_of(const PhasePeaks& peaks) {
  return std::ranges::max_element(
      peaks, [](const auto& one, const auto& other) { return one.second < other.second; });
}

/// Whether `phase` is clearly below the largest.
bool is_below(const PhasePeaks& peaks, const std::string& phase) {
  const auto found = peaks.find(phase);
  return found == peaks.end() || largest_of(peaks)->second > kClear * found->second;
}

}  // namespace

std::vector<Note> moved_peaks(const RunData& run, const std::string& baseline,
                              const std::vector<DifferenceTotal>& totals) {
  std::vector<Note> notes;
  std::set<std::pair<std::string, std::string>> seen;
  for (const DifferenceTotal& total : totals) {
    if (total.kind != "peak" || !seen.emplace(total.candidate, total.role).second) continue;
    const PhasePeaks before = peaks_of(run, baseline, total.role);
    const PhasePeaks after = peaks_of(run, total.candidate, total.role);
    if (before.empty() || after.empty()) continue;
    const std::string& from = largest_of(before)->first;
    const std::string& to = largest_of(after)->first;
    if (from == to || !is_below(before, to) || !is_below(after, from)) continue;
    notes.push_back(
        {"peak_moved",
         fmt::format("{} is largest in its phase {} with {} and in {} with {}: stacks at the peak "
                     "differ for that reason, too",
                     total.role, from, baseline, to, total.candidate),
         "what was allocated, is live at the end or was retained is compared over the whole run"});
  }
  return notes;
}

}  // namespace memduel
