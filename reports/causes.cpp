#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "model/metric_catalogue.h"
#include "profile/profile.h"
#include "reports/memory_tables.h"
#include "stats/estimates.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

constexpr std::size_t kMostCauses = 3;
constexpr std::size_t kMostParts = 5;  ///< of the peak of a run's only variant
constexpr double kLeastCause = 0.01;   ///< of the largest: less is not what changed
/// Of the built-in workloads' functions.
constexpr std::string_view kOwnNamespace = "memduel::";

Cause cause_of(const WaterfallStep& step) {
  return {step.amount, step.words,  step.size > 0, step.function,
          step.owner,  step.caller, step.location, step.size};
}

Cause cause_of(const DifferenceRow& row, const std::string& heap) {
  return {row.amount,
          called_from(row.function, row.caller, row.location),
          row.more,
          row.function,
          heap == "mapped" ? heap : "heap",
          row.caller,
          row.location,
          row.size};
}

/// What a process shares with its parent takes no memory besides the parent's.
bool is_shared_step(const WaterfallStep& step) {
  return step.owner == to_name(PageOwner::inherited) && step.function == kSharedWithOthers;
}

bool is_reclaimable_step(const WaterfallStep& step) {
  return step.owner == to_name(PageOwner::file) &&
         is_page_cache(step.function, step.caller == kPrivateCopy ? kPrivateCopy : kShared);
}

/// Of the row's change; of growth, which is per round or minute, of the profile's own.
void add_shares(std::vector<Cause>& causes, const Comparison& row, double change_of_profile) {
  const bool is_rate = is_growth_metric(row.metric);
  const double change = !is_rate && row.baseline_median && row.candidate_median
                            ? *row.candidate_median - *row.baseline_median
                            : change_of_profile;
  for (Cause& cause : causes)
    if (change != 0) cause.share = std::max(0.0, cause.size / change);
}

std::vector<Cause> causes_of_snapshot(const ResidentTable& table, const std::string& metric) {
  std::vector<WaterfallStep> steps = table.steps;
  std::erase_if(steps, is_shared_step);
  if (metric == kPeakRssNoFiles) std::erase_if(steps, is_reclaimable_step);
  std::ranges::stable_sort(steps, std::greater(), [](const WaterfallStep& step) {
    return std::make_pair(!step.function.empty(), std::abs(step.size));
  });
  double largest = 0;
  for (const WaterfallStep& step : steps) largest = std::max(largest, std::abs(step.size));
  std::vector<Cause> causes;
  for (const WaterfallStep& step : steps)
    if (!step.owner.empty() && std::abs(step.size) >= kLeastCause * largest)
      causes.push_back(cause_of(step));
  return causes;
}

/// What the stacks of a heap explain: the metric itself, or of resident memory that heap.
std::string explained_by(const DifferenceTable& table, const JobFacts& job, const Comparison& row) {
  if (!is_resident_peak(row.metric)) return quantity(job, row.role, row.metric);
  if (table.heap == "malloc") return quantity(job, row.role, kPeakHeap);
  if (table.heap == to_name(Heap::both)) return quantity(job, row.role, kPeakHeapAndMapped);
  return role_words(job, row.role) + " mappings of its own at their peak";
}

/// Stacks that are told by the same names are one cause.
std::vector<DifferenceRow> merged_rows(const DifferenceTable& table) {
  std::vector<DifferenceRow> merged;
  for (const DifferenceRow& row : table.rows) {
    const auto same = std::ranges::find_if(merged, [&](const DifferenceRow& other) {
      return other.function == row.function && other.caller == row.caller;
    });
    if (same == merged.end()) {
      merged.push_back(row);
      continue;
    }
    same->size += row.size;
    same->half_width =
        std::sqrt(same->half_width * same->half_width + row.half_width * row.half_width);
    same->amount = amount_of(table.kind, same->size, same->half_width);
    same->more = same->size > 0;
  }
  std::ranges::stable_sort(merged, std::greater(),
                           [](const DifferenceRow& row) { return std::abs(row.size); });
  return merged;
}

std::vector<Cause> causes_of_heap(const Results& results, const Comparison& row) {
  const auto table = difference_table_for(results, row.candidate, row.role, row.metric);
  if (!table) return {};
  std::vector<Cause> causes;
  for (const DifferenceRow& one : merged_rows(*table)) {
    causes.push_back(cause_of(one, table->heap));
    causes.back().of = explained_by(*table, results.job, row);
  }
  add_shares(causes, row, table->change);
  std::erase_if(causes, [least = causes.empty() ? 0 : kLeastCause * std::abs(causes.front().size)](
                            const Cause& cause) { return std::abs(cause.size) < least; });
  return causes;
}

/// In two metrics, which round or add differently.
bool is_same_cause(const Cause& a, const Cause& b) {
  constexpr double kAlike = 0.05;
  return a.function == b.function && a.more == b.more &&
         std::abs(a.size - b.size) <= kAlike * std::abs(b.size);
}

/// "train.py" of "src/train.py:12".
std::string file_of(const std::string& location) {
  const std::string path = location.substr(0, location.rfind(':'));
  return path.substr(path.rfind('/') + 1);
}

/// How long the namespace is in which a function and its caller both are, with its colons: both
/// are in the same program, so it says nothing of either.
std::size_t shared_namespace(std::string_view function, std::string_view caller) {
  const std::size_t end = function.find("::");
  if (end == std::string_view::npos || function.find_first_of("<( ") < end) return 0;
  const std::string_view name = function.substr(0, end + 2);
  return caller.starts_with(name) && name != "std::" ? name.size() : 0;
}

std::string without_end(const std::string& text, const std::string& end) {
  return text.ends_with(end) ? text.substr(0, text.size() - end.size()) : text;
}

}  // namespace

bool is_resident_peak(const std::string& metric) {
  constexpr std::array<std::string_view, 9> kPeaks = {
      kPeakRss,     kPeakRssNoFiles, kPeakRssAboveIdle, kPeakPss,       kPeakRssAnon,
      kPeakRssFile, kPeakCgroup,     kPeakCgroupAnon,   kPeakSharedOnce};
  return std::ranges::find(kPeaks, metric) != kPeaks.end();
}

std::string called_from(const std::string& function, const std::string& caller,
                        const std::string& location) {
  const std::string file = " (" + file_of(location) + ")";
  std::string name = without_end(function, file);
  if (caller.empty()) return name;
  std::string from = without_end(caller, file);
  const std::size_t shared = shared_namespace(name, from);
  name.erase(0, shared);
  from.erase(0, shared);
  for (std::string* one : {&name, &from})
    if (one->starts_with(kOwnNamespace)) one->erase(0, kOwnNamespace.size());
  if (from == "<module>") from = "module level";
  return runtime_memory(name) == nullptr ? name + ", called from " + from
                                         : from + " (" + name + ")";
}

namespace {

std::vector<Cause> all_causes_of(const Results& results, const Comparison& row) {
  const auto snapshot = is_resident_peak(row.metric)
                            ? resident_table_for(results, row.candidate, row.role)
                            : std::nullopt;
  std::vector<Cause> causes;
  if (snapshot) {
    causes = causes_of_snapshot(*snapshot, row.metric);
    add_shares(causes, row, snapshot->candidate_bytes - snapshot->baseline_bytes);
    for (Cause& cause : causes) {
      cause.of = quantity(results.job, row.role, row.metric);
      cause.resident = true;
    }
  } else {
    causes = causes_of_heap(results, row);
  }
  return causes;
}

}  // namespace

void keep_first(std::vector<Cause>& causes, std::size_t most) {
  while (causes.size() > std::max<std::size_t>(most, 1)) {
    const Cause last = std::move(causes.back());
    causes.pop_back();
    Cause& kept = causes.back();
    kept.others += 1 + last.others;
    kept.largest_other = std::max({kept.largest_other, last.largest_other, std::abs(last.size)});
  }
}

std::vector<Cause> causes_of(const Results& results, const Comparison& row) {
  std::vector<Cause> causes = all_causes_of(results, row);
  keep_first(causes, kMostCauses);
  if (!is_only_role(results.job, row.role))
    for (Cause& cause : causes) cause.role = role_words(results.job, row.role);
  return causes;
}

std::vector<Cause> parts_of_peak(const Results& results) {
  for (const char* metric : {kPeakRss, kPeakHeapAndMapped}) {
    std::vector<double> peaks = values_in_trials(results, results.baseline, kTree, metric);
    if (peaks.empty()) continue;
    Comparison from_nothing;
    from_nothing.baseline = from_nothing.candidate = results.baseline;
    from_nothing.role = kTree;
    from_nothing.metric = metric;
    from_nothing.baseline_median = 0;
    from_nothing.candidate_median = median(std::move(peaks));
    std::vector<Cause> parts = all_causes_of(results, from_nothing);
    // Shares of peak RSS are those of a snapshot; stacks of the heap are shares of the heap.
    if (parts.empty() || (metric == kPeakRss && !parts.front().resident)) continue;
    if (parts.size() > kMostParts) parts.resize(kMostParts);
    for (Cause& part : parts) part.amount = format_bytes(part.size);
    return parts;
  }
  return {};
}

bool repeat(const std::vector<Cause>& causes, const std::vector<Cause>& shown) {
  return std::ranges::all_of(causes, [&](const Cause& cause) {
    return std::ranges::any_of(shown,
                               [&](const Cause& other) { return is_same_cause(cause, other); });
  });
}

}  // namespace memduel
