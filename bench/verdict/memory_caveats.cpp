// Caveats about resident memory: peaks that lie in different phases, what changed beyond its margin
// while no gate asks for it, and heap that is requested but not resident.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/metric_catalogue.h"
#include "stats/estimates.h"
#include "util/text.h"
#include "verdict/questions.h"

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
         fmt::format(
             "the peak of {} is in phase {} with {} but in phase {} with {}, which also changes "
             "the stacks at the peak",
             total.role, from, baseline, to, total.candidate),
         "compare the stacks of total allocations or of live memory at exit, which cover the whole "
         "trial"});
  }
  return notes;
}

namespace {

bool asks_for_rss(const Results& results, const std::string& candidate) {
  return std::ranges::any_of(results.gates, [&](const GateResult& gate) {
    return gate.candidate == candidate && gate.role == kTree && gate.metric == kPeakRss;
  });
}

bool memory_failed(const Results& results, const std::string& candidate) {
  return std::ranges::any_of(results.gates, [&](const GateResult& gate) {
    return gate.candidate == candidate && gate.outcome == GateOutcome::failed &&
           is_known_metric(gate.metric) && metric_info(gate.metric).unit == Unit::bytes;
  });
}

/// The names of the files that the snapshot shows to differ most; empty without one.
std::string files_that_grew(const Results& results, const std::string& candidate) {
  constexpr std::string_view kFile = "file:";
  constexpr double kLeast = 1 << 20;
  constexpr std::size_t kMost = 2;
  std::vector<std::string> names;
  for (const Difference& row : results.differences) {
    const bool is_file = row.candidate == candidate && row.kind == "resident" &&
                         !row.stack.empty() && row.stack.front().starts_with(kFile);
    if (is_file && row.bytes >= kLeast && names.size() < kMost)
      names.push_back(row.stack.front().substr(kFile.size()));
  }
  return names.empty() ? "" : fmt::format(" ({})", fmt::join(names, ", "));
}

double rise_of(const Comparison& row) {
  return row.candidate_median.value_or(0) - row.baseline_median.value_or(0);
}

/// Decided, or no value of one side within those of the other.
bool is_more(const Comparison& row) {
  return row.verdict == Verdict::regressed || (row.verdict == Verdict::inconclusive && row.apart);
}

/// A gate asks for a row that rises with it.
bool is_told_by_a_gate(const Results& results, const Comparison& rss) {
  constexpr double kMostOfIt = 0.5;
  constexpr std::array<std::string_view, 5> kMemory = {kPeakRss, kPeakRssNoFiles, kPeakSharedOnce,
                                                       kPeakPss, kPeakHeapAndMapped};
  return std::ranges::any_of(results.comparisons, [&](const Comparison& row) {
    return row.candidate == rss.candidate && row.role == rss.role && row.is_asked() &&
           std::ranges::find(kMemory, row.metric) != kMemory.end() &&
           rise_of(row) >= kMostOfIt * rise_of(rss);
  });
}

Note note_of(const Results& results, const Comparison& row) {
  constexpr double kMostOfIt = 0.5;
  const double more = rise_of(row);
  const std::string sizes = fmt::format(
      "{} has {} more peak RSS than {} ({} → {}), but no gate covers {}.{}", row.candidate,
      format_bytes(more), results.baseline, format_bytes(*row.baseline_median),
      format_bytes(*row.candidate_median), row.role, row.metric);
  const std::string gate = fmt::format("add --gate '{}.{}<=margin'", row.role, row.metric);
  const Comparison* rest = results.row(row.candidate, row.role, kPeakRssNoFiles);
  if (rest == nullptr) return {"rss_beyond_margin", sizes, gate};
  const double of_files = more - rise_of(*rest);
  if (of_files < kMostOfIt * more) return {"rss_beyond_margin", sizes, gate};
  return {
      "rss_beyond_margin",
      fmt::format(
          "{}; {} of it are pages of mapped files{}, which the kernel can reclaim (modified pages "
          "after it has written them to disk)",
          sizes, format_bytes(of_files), files_that_grew(results, row.candidate)),
      gate};
}

}  // namespace

std::vector<Note> ungated_rss(const Results& results) {
  std::vector<Note> notes;
  for (const Comparison& row : results.comparisons) {
    if (row.role != kTree || row.metric != kPeakRss || !is_more(row)) continue;
    const MetricInfo info = metric_info(kPeakRss);
    const double margin =
        std::max(info.absolute_margin, info.relative_margin * row.baseline_median.value_or(0));
    if (rise_of(row) <= margin || results.gates.empty() || asks_for_rss(results, row.candidate) ||
        memory_failed(results, row.candidate) || is_told_by_a_gate(results, row))
      continue;
    notes.push_back(note_of(results, row));
  }
  return notes;
}

namespace {

std::optional<double> median_in_trials(const Results& results, const std::string& arm,
                                       const char* metric) {
  const std::vector<double> values = values_in_trials(results, arm, kTree, metric);
  return values.empty() ? std::nullopt : std::optional(median(values));
}

}  // namespace

std::vector<Note> untouched_heap(const Results& results) {
  constexpr double kClearly = 1.25;
  constexpr double kLeast = 4 << 20;
  std::vector<std::string> arms;
  for (const ArmSummary& arm : results.arms) {
    const auto heap = median_in_trials(results, arm.name, kPeakHeap);
    const auto rss = median_in_trials(results, arm.name, kPeakRss);
    if (!heap || !rss || *heap < kClearly * *rss || *heap - *rss < kLeast) continue;
    arms.push_back(fmt::format("{} (peak heap {}, peak RSS {})", arm.name, format_bytes(*heap),
                               format_bytes(*rss)));
  }
  if (arms.empty()) return {};
  return {{"heap_above_rss",
           fmt::format("{} {} more heap than is resident: pages that a program requests and does "
                       "not touch are not resident",
                       fmt::join(arms, ", "), arms.size() == 1 ? "requests" : "request"),
           "peak_rss_bytes is what the machine needs, peak_heap_bytes what the program requests"}};
}

}  // namespace memduel
