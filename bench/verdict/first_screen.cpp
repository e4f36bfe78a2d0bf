#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include "model/metric_catalogue.h"
#include "verdict/questions.h"
#include "verdict/results.h"

namespace memduel {
namespace {

constexpr std::size_t kMostBesideGates = 2;   ///< of each candidate
constexpr std::size_t kMostWithoutGates = 4;  ///< of all candidates
constexpr double kLeastHeadline = 0.1;        ///< of the largest change: less is no headline
/// Of the same memory another metric shows the same change, if not to the byte.
constexpr double kSameChange = 0.8;
constexpr double kSameSum = 0.5;
/// Trials of each variant from which it counts that all of one lie beyond all of the other: by
/// chance 2 of 70 orders of four and four do.
constexpr std::size_t kLeastApart = 4;

using Rows = std::vector<const Comparison*>;

/// Bytes that are held at one time. Others are sums over time, addresses without memory, page cache
/// that the kernel takes back, what another row counts twice, or parts of a control group at its
/// largest sample, which of a short job is anywhere.
bool is_held_memory(const std::string& metric) {
  constexpr std::array<std::string_view, 10> kOthers = {kAllocatedBytes,
                                                        kNetHeapGrowth,
                                                        kRssCountedAgain,
                                                        kPeakCgroup,
                                                        kPeakCgroupFile,
                                                        kPeakCgroupAnon,
                                                        kPeakCgroupShmem,
                                                        kPeakCgroupKernel,
                                                        "allocator_committed_bytes",
                                                        "allocator_retained_bytes"};
  return is_known_metric(metric) && metric_info(metric).unit == Unit::bytes &&
         std::ranges::find(kOthers, metric) == kOthers.end();
}

bool is_of_gpu(const std::string& metric) {
  const std::string_view meter = metric_info(metric).meter;
  return meter == "cuda" || meter == "nvml";
}

double size_of(const Comparison& row) {
  return std::abs(change_of_medians(row).value_or(0));
}

/// Whether every trial of one variant lies beyond every trial of the other, by more than the
/// margin. What is so but not decided lacks trials, or is one of many rows.
bool is_apart(const Results& results, const Comparison& row) {
  const std::vector<double> a = values_in_trials(results, row.baseline, row.role, row.metric);
  const std::vector<double> b = values_in_trials(results, row.candidate, row.role, row.metric);
  if (std::min(a.size(), b.size()) < kLeastApart) return false;
  const auto [least_a, most_a] = std::ranges::minmax(a);
  const auto [least_b, most_b] = std::ranges::minmax(b);
  const double margin =
      row.ratio ? row.margin * std::abs(row.baseline_median.value_or(0)) : row.margin;
  return std::max(least_a - most_b, least_b - most_a) > margin;
}

bool tells_a_change(const Results& results, const Comparison& row) {
  return row.is_change() ||
         (row.verdict == Verdict::inconclusive && !row.is_of_dead() && is_apart(results, row));
}

bool is_same_part_of_the_job(const JobFacts& job, const Comparison& a, const Comparison& b) {
  return is_about(job, a.role, b.role) || is_about(job, b.role, a.role);
}

/// The parts of a resident set are read at marks, whatever their names say.
bool is_of_a_peak(const Comparison& row) {
  return row.metric.starts_with("peak_") && row.metric != kPeakRssAnon &&
         row.metric != kPeakRssFile;
}

/// Whether a reader of `shown` knows of `row`: as much more or less of the same memory. What is
/// held at the end or when idle follows from a peak, but not the other way round.
bool tells(const Results& results, const Comparison& shown, const Comparison& row) {
  // The resident sets of all processes are the sum of those of the roles, which readers check.
  const bool is_sum = shown.role == kTree && shown.metric == kPeakRss && row.role == kTree;
  const double least = is_sum ? kSameSum : kSameChange;
  return (is_of_a_peak(shown) || !is_of_a_peak(row)) && shown.candidate == row.candidate &&
         is_held_memory(shown.metric) && is_of_gpu(shown.metric) == is_of_gpu(row.metric) &&
         is_same_part_of_the_job(results.job, shown, row) && shown.has_more() == row.has_more() &&
         size_of(shown) >= least * size_of(row) && tells_a_change(results, shown);
}

bool gate_failed_on(const Results& results, const Comparison& row, bool advisory) {
  return std::ranges::any_of(results.gates, [&](const GateResult& gate) {
    return gate.asks_about(row) && gate.outcome == GateOutcome::failed && gate.advisory == advisory;
  });
}

Rows rows_of_gates(const Results& results) {
  Rows rows;
  for (const Comparison& row : results.comparisons)
    if (row.is_asked()) rows.push_back(&row);
  const CandidateOrder order(results);
  const auto place = [&](const Comparison* row) {
    const bool worse = row->verdict == Verdict::regressed || gate_failed_on(results, *row, true);
    const int urgency = gate_failed_on(results, *row, false) ? 0 : worse ? 1 : 2;
    const bool held = is_held_memory(row->metric);
    return std::tuple(urgency, order.rank(row->candidate), held ? -size_of(*row) : 0.0);
  };
  std::ranges::stable_sort(
      rows, [&](const Comparison* a, const Comparison* b) { return place(a) < place(b); });
  return rows;
}

/// The peak of the resident set where it shows the same change: a reader knows it from other tools.
const Comparison* best_known(const Results& results, const Rows& rows, const Comparison* row) {
  const auto known = std::ranges::find_if(rows, [&](const Comparison* other) {
    return other->metric == kPeakRss && other->role == row->role && is_of_a_peak(*row) &&
           tells(results, *other, *row);
  });
  return known == rows.end() ? row : *known;
}

/// What changed of one candidate beside its gates, the most bytes first.
Rows changes_beside(const Results& results, const Rows& gates, const std::string& candidate) {
  Rows rows;
  double largest = 0;
  for (const Comparison& row : results.comparisons) {
    if (row.candidate != candidate || !is_held_memory(row.metric) || size_of(row) == 0 ||
        is_median_of_group(results.job, row.role) || !tells_a_change(results, row))
      continue;
    largest = std::max(largest, size_of(row));
    if (!row.is_asked()) rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const Comparison* row) { return size_of(*row); });
  Rows shown;
  for (const Comparison* row : rows) {
    const auto tells_it = [&](const Comparison* other) { return tells(results, *other, *row); };
    if (size_of(*row) < kLeastHeadline * largest || std::ranges::any_of(gates, tells_it) ||
        std::ranges::any_of(shown, tells_it))
      continue;
    shown.push_back(best_known(results, rows, row));
  }
  return shown;
}

double share_of_change(const Comparison* row) {
  return row->ratio && *row->ratio > 0 ? std::abs(std::log(*row->ratio)) : 0;
}

bool has_same_numbers(const Comparison& a, const Comparison& b) {
  return a.candidate == b.candidate && a.metric == b.metric && a.ratio == b.ratio &&
         a.baseline_median == b.baseline_median;
}

/// Decided changes of what is no memory held at one time, the largest share first; of one process
/// alone the job's are left out.
Rows other_changes(const Results& results, const std::string& candidate, bool only_counters) {
  Rows rows;
  for (const Comparison& row : results.comparisons) {
    if (row.candidate != candidate || row.is_asked() || is_held_memory(row.metric) ||
        (row.verdict != Verdict::improved && row.verdict != Verdict::regressed &&
         row.verdict != Verdict::changed) ||
        !row.ratio || is_median_of_group(results.job, row.role) || (only_counters && !row.exact))
      continue;
    const bool is_told = std::ranges::any_of(
        rows, [&](const Comparison* other) { return has_same_numbers(*other, row); });
    if (!is_told) rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), share_of_change);
  return rows;
}

ShownRow shown_row(const Comparison& row, ShownFor why) {
  return {row.candidate, row.role, row.metric, why, change_of_medians(row)};
}

/// Of one candidate, behind the rows of gates.
void add_beside_gates(std::vector<ShownRow>& shown, const Results& results, const Rows& gates,
                      const std::string& candidate) {
  const std::size_t most = gates.empty() ? kMostWithoutGates : kMostBesideGates;
  double largest = 0;
  for (const Comparison* row : gates)
    if (row->candidate == candidate && is_held_memory(row->metric) && tells_a_change(results, *row))
      largest = std::max(largest, size_of(*row));
  const Rows changes = changes_beside(results, gates, candidate);
  std::size_t added = 0;
  for (const Comparison* row : changes) {
    if (added == most) break;
    const bool is_largest = added == 0 && size_of(*row) > largest;
    shown.push_back(shown_row(*row, is_largest ? ShownFor::largest_change : ShownFor::change));
    ++added;
  }
  if (largest > 0 || (!changes.empty() && !gates.empty())) return;
  for (const Comparison* row : other_changes(results, candidate, !gates.empty())) {
    if (added++ == most) break;
    shown.push_back(shown_row(*row, ShownFor::other));
  }
}

/// Where no gate asks about a row: what became worse first, and a few of all.
void keep_the_first(std::vector<ShownRow>& shown, const Results& results) {
  std::ranges::stable_partition(shown, [&](const ShownRow& one) {
    const Comparison* row = results.row(one.candidate, one.role, one.metric);
    return row != nullptr && row->verdict == Verdict::regressed;
  });
  if (shown.size() > kMostWithoutGates) shown.resize(kMostWithoutGates);
}

/// What a growth row must reach to be a change: the candidate's row, or one of the baseline's.
double own_margin(const Results& results, const Growth& growth) {
  double margin = 0;
  for (const Comparison& row : results.comparisons) {
    if (row.role != growth.role || row.metric != growth.metric) continue;
    if (row.candidate == growth.arm) return row.margin;
    if (row.baseline == growth.arm) margin = std::max(margin, row.margin);
  }
  return margin;
}

}  // namespace

std::optional<double> change_of_medians(const Comparison& row) {
  if (!row.baseline_median || !row.candidate_median) return std::nullopt;
  return *row.candidate_median - *row.baseline_median;
}

std::vector<ShownRow> rows_to_show(const Results& results) {
  const Rows gates = rows_of_gates(results);
  std::vector<ShownRow> shown;
  for (const Comparison* row : gates) {
    const bool failed = gate_failed_on(results, *row, false);
    shown.push_back(shown_row(*row, failed ? ShownFor::failed_gate : ShownFor::gate));
  }
  // An ablation asks about switches.
  if (!results.ablation.empty() || results.arms.size() < 2) return shown;
  for (const std::string& candidate : ranked_candidates(results))
    add_beside_gates(shown, results, gates, candidate);
  if (gates.empty()) keep_the_first(shown, results);
  return shown;
}

bool is_notable_growth(const Results& results, const Growth& growth) {
  if (growth.verdict != GrowthVerdict::growing) return false;
  if (!growth.slope) return true;
  double most = 0;
  for (const Growth& other : results.growth)
    if (other.verdict == GrowthVerdict::growing && other.metric == growth.metric)
      most = std::max(most, other.slope.value_or(0));
  return *growth.slope >= own_margin(results, growth) && *growth.slope >= kLeastHeadline * most;
}

}  // namespace memduel
