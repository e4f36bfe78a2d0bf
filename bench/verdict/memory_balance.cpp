// What a role's memory consists of: the balance of a difference, freed memory that allocators keep,
// the parts of a training, and the peaks from round to round.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "model/metric_catalogue.h"
#include "stats/estimates.h"
#include "verdict/questions.h"
#include "verdict/results.h"

namespace memduel {
namespace {

constexpr std::array<std::string_view, 5> kResident = {kPeakSharedOnce, kPeakRssAboveIdle, kPeakRss,
                                                       kPeakPss, kPeakCgroup};

const Comparison* row_of(const Results& results, const std::string& candidate,
                         const std::string& role, std::string_view metric) {
  const Comparison* row = results.row(candidate, role, metric);
  const bool told = row != nullptr && row->baseline_median && row->candidate_median;
  return told ? row : nullptr;
}

/// The resident memory that a gate of the role asks about, else its peak.
const Comparison* total_of(const Results& results, const Comparison& asked) {
  for (const std::string_view metric : kResident) {
    const Comparison* row = row_of(results, asked.candidate, asked.role, metric);
    if (row != nullptr && row->is_asked()) return row;
  }
  return row_of(results, asked.candidate, asked.role, kPeakRss);
}

double one_of(const JobFacts& job, const std::string& role, const std::vector<double>& values) {
  if (is_median_of_group(job, role)) return median(values);
  return *std::ranges::max_element(values);
}

/// Live blocks at the peak; none of several processes together, whose peaks are not at one time.
std::optional<MemoryPart> live_at_peak(const Results& results, const Comparison& total) {
  std::vector<double> baseline;
  std::vector<double> candidate;
  for (const DifferenceTotal& one : results.difference_totals) {
    if (one.candidate != total.candidate || one.kind != "peak" || one.heap != "malloc" ||
        !is_about(results.job, total.role, one.role))
      continue;
    baseline.push_back(one.baseline_bytes);
    candidate.push_back(one.candidate_bytes);
  }
  if (baseline.empty() || (total.role == kTree && baseline.size() > 1)) return {};
  return MemoryPart{"live allocations at the peak", true, one_of(results.job, total.role, baseline),
                    one_of(results.job, total.role, candidate)};
}

void add_part(std::vector<MemoryPart>& parts, const Results& results, const Comparison& total,
              std::string_view metric, const char* name) {
  if (const Comparison* row = row_of(results, total.candidate, total.role, metric))
    parts.push_back({name, false, *row->baseline_median, *row->candidate_median});
}

/// Of an arm, in all snapshots of what `role` is about.
double copies_of(const Results& results, const std::string& arm, const std::string& role) {
  double bytes = 0;
  for (const ResidentMemory& memory : results.resident) {
    if (memory.arm != arm || !is_about(results.job, role, memory.role)) continue;
    for (const ResidentOwner& part : memory.owners)
      if (part.owner == "inherited" && part.name == "own-copy") bytes += part.bytes;
  }
  return bytes;
}

/// Unless nothing was copied.
void add_copies(std::vector<MemoryPart>& parts, const Results& results, const Comparison& total) {
  const MemoryPart copies{"copies made by forked children", true,
                          copies_of(results, results.baseline, total.role),
                          copies_of(results, total.candidate, total.role)};
  if (copies.baseline_bytes > 0 || copies.candidate_bytes > 0) parts.push_back(copies);
}

std::optional<MemoryBalance> balance_of(const Results& results, const Comparison& total) {
  MemoryBalance balance;
  balance.role = total.role;
  balance.candidate = total.candidate;
  balance.metric = total.metric;
  balance.total = {"", false, *total.baseline_median, *total.candidate_median};
  std::vector<MemoryPart> heap;
  add_part(heap, results, total, kHeapInUse, "live allocations at markers");
  add_part(heap, results, total, kHeapHeldFree, "free (not returned to the kernel) at markers");
  const std::optional<MemoryPart> live = live_at_peak(results, total);
  if (live) {
    balance.parts = {*live};
    add_copies(balance.parts, results, total);
    balance.at_marks = std::move(heap);
    balance.rest =
        "the rest, mostly anonymous: memory that is free at the peak but not returned to the "
        "kernel, allocator tables, stacks";
  } else {
    balance.parts = std::move(heap);
    balance.rest =
        "not explained: each part is its own maximum over the markers, and memory between markers "
        "is "
        "not seen; rerun with --set profile.trials=1 for a breakdown at the peak";
  }
  // Parts are of the total's own kind: RSS counts a shared page for each process, PSS shares it
  // out, and a control group has page cache that nobody maps.
  const bool resident = total.metric == kPeakRss || total.metric == kPeakRssAboveIdle;
  if (resident) add_part(balance.parts, results, total, kPeakRssFile, "file-backed pages");
  if (total.metric == kPeakCgroup)  // the kernel counts shared memory and tmpfs among these
    add_part(balance.parts, results, total, kPeakCgroupFile, "file-backed or shared pages");
  else if (resident || total.metric == kPeakSharedOnce)
    add_part(balance.parts, results, total, kPeakCgroupShmem, "shared memory and tmpfs");
  if (balance.parts.empty()) return {};
  if (resident)
    add_part(balance.at_marks, results, total, kPeakRssAnon, "anonymous pages at markers");
  balance.rest_bytes = balance.total.difference();
  for (const MemoryPart& part : balance.parts) balance.rest_bytes -= part.difference();
  return balance;
}

}  // namespace

std::vector<MemoryBalance> memory_balances(const Results& results) {
  std::vector<MemoryBalance> balances;
  std::vector<const Comparison*> seen;
  for (const Comparison& row : results.comparisons) {
    if (!row.is_asked()) continue;
    const Comparison* total = total_of(results, row);
    if (total == nullptr || std::ranges::find(seen, total) != seen.end()) continue;
    seen.push_back(total);
    if (auto balance = balance_of(results, *total)) balances.push_back(std::move(*balance));
  }
  const CandidateOrder order(results);
  std::ranges::stable_sort(balances, [&](const MemoryBalance& a, const MemoryBalance& b) {
    return order.rank(a.candidate) < order.rank(b.candidate);
  });
  return balances;
}

namespace {

constexpr double kLeastBytes = 16 << 20;
constexpr double kLeastShare = 0.1;

/// Of any row in which the arm stands.
std::optional<double> median_of(const Results& results, const std::string& arm,
                                const std::string& role, std::string_view metric) {
  for (const Comparison& row : results.comparisons) {
    if (row.role != role || row.metric != metric) continue;
    if (row.candidate == arm) return row.candidate_median;
    if (results.baseline == arm) return row.baseline_median;
  }
  return std::nullopt;
}

}  // namespace

std::optional<HeldMemory> held_memory(const Results& results, const std::string& arm) {
  std::optional<HeldMemory> most;
  for (const Comparison& row : results.comparisons) {
    if (row.metric != kHeapHeldFree) continue;
    const auto held = median_of(results, arm, row.role, row.metric);
    const auto peak = median_of(results, arm, row.role, kPeakRss);
    const auto arenas = median_of(results, arm, row.role, kAllocatorArenaCount);
    if (!held || !peak || !arenas || *peak <= 0) continue;
    if (*held < kLeastBytes || *held < kLeastShare * *peak) continue;
    if (!most || *held > most->bytes)
      most = HeldMemory{row.role, *held, static_cast<int>(std::lround(*arenas))};
  }
  return most;
}

namespace {

struct NamedPart {
  const char* metric;
  const char* name;
};
constexpr std::array kTrainingParts = {NamedPart{"parameter_bytes", "parameters"},
                                       NamedPart{"gradient_bytes", "gradients"},
                                       NamedPart{"optimizer_bytes", "optimizer"},
                                       NamedPart{"activation_bytes", "activations"},
                                       NamedPart{"data_bytes", "data"},
                                       NamedPart{"teacher_bytes", "teacher"},
                                       NamedPart{kPeakTorchCpu, "all tensors"},
                                       NamedPart{kPeakGpuAllocated, "all GPU tensors"}};

/// The highest of a trial's rounds.
std::optional<double> highest(const RoleData& role, const char* metric) {
  const MetricName name(metric);
  std::optional<double> most;
  for (const RoundData& round : role.rounds)
    if (const auto found = round.metrics.value(name))
      most = std::max(most.value_or(*found), *found);
  return most;
}

std::optional<double> highest_of_arm(const Results& results, const std::string& arm,
                                     const std::string& role, const char* metric) {
  std::vector<double> values;
  for (const TrialData& trial : results.trials) {
    if (trial.arm != arm || !trial.counts()) continue;
    for (const RoleData& data : trial.roles)
      if (data.role == role)
        if (const auto most = highest(data, metric)) values.push_back(*most);
  }
  return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

std::vector<std::string> roles_with_parts(const Results& results) {
  std::vector<std::string> roles;
  for (const TrialData& trial : results.trials)
    for (const RoleData& role : trial.roles)
      if (highest(role, kTrainingParts.front().metric) &&
          std::ranges::find(roles, role.role) == roles.end())
        roles.push_back(role.role);
  return roles;
}

std::vector<std::string> baseline_first(const Results& results) {
  std::vector<std::string> arms;
  for (const ArmSummary& arm : results.arms)
    if (!arm.ablation) arms.push_back(arm.name);
  std::stable_partition(arms.begin(), arms.end(),
                        [&](const std::string& arm) { return arm == results.baseline; });
  return arms;
}

}  // namespace

std::optional<double> PartPeak::ratio(std::size_t arm) const {
  if (!bytes[0] || !bytes[arm] || *bytes[0] == 0) return {};
  return *bytes[arm] / *bytes[0];
}

std::vector<PartPeaks> part_peaks(const Results& results) {
  std::vector<PartPeaks> all;
  for (const std::string& role : roles_with_parts(results)) {
    PartPeaks peaks{role, baseline_first(results), {}};
    for (const NamedPart& named : kTrainingParts) {
      PartPeak part{named.name, {}};
      for (const std::string& arm : peaks.arms)
        part.bytes.push_back(highest_of_arm(results, arm, role, named.metric));
      const bool known =
          std::ranges::any_of(part.bytes, [](const auto& bytes) { return bytes.has_value(); });
      if (known) peaks.parts.push_back(std::move(part));
    }
    if (!peaks.parts.empty()) all.push_back(std::move(peaks));
  }
  return all;
}

std::vector<double> round_peaks(const Results& results, const std::string& arm,
                                const std::string& role) {
  std::map<int, std::vector<double>> by_round;
  for (const TrialData& trial : results.trials) {
    if (trial.arm != arm || !trial.counts()) continue;
    for (const RoleData& data : trial.roles) {
      if (data.role != role) continue;
      for (const RoundData& round : data.rounds)
        if (const auto peak = round.metrics.value(kPeakRss)) by_round[round.round].push_back(*peak);
    }
  }
  std::vector<double> medians;
  for (auto& [round, values] : by_round) medians.push_back(median(std::move(values)));
  return medians;
}

}  // namespace memduel
