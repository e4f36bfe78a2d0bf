#include <algorithm>

#include "base/metric_catalogue.h"
#include "experiment/metrics/gpu_metrics.h"
#include "experiment/metrics/heap_metrics.h"
#include "experiment/metrics/pss_metrics.h"
#include "experiment/metrics/trial_metrics.h"

namespace memduel {
namespace {

/// The sum over all roles but those of descendants, whose share is in their parents'; absent when
/// one of them lacks the metric.
void add_sum(RoleData& tree, const TrialTrace& trace, const std::vector<RoleData>& roles,
             const std::string& name) {
  double sum = 0;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (i < trace.roles.size() && trace.roles[i].of_descendants) continue;
    const auto value = roles[i].metrics.value(name);
    if (!value) return;
    sum += *value;
  }
  tree.metrics[name] = sum;
}

/// The one that is named, where it is there, else the first.
const RoleData& reference_role(const std::vector<RoleData>& roles, const std::string& name) {
  const auto named = std::ranges::find(roles, name, &RoleData::role);
  return named == roles.end() ? roles.front() : *named;
}

/// The sum over what the roles have of that round, each as its own marks say: when the reference
/// ends its last one, others may have gone. Absent when one of them has none.
std::optional<double> sum_of_round(const std::vector<RoleData>& roles, int number,
                                   const char* metric) {
  double sum = 0;
  for (const RoleData& role : roles) {
    const auto round = std::ranges::find(role.rounds, number, &RoundData::round);
    if (round == role.rounds.end()) return std::nullopt;
    const auto value = round->metrics.value(metric);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum;
}

RoundData tree_round(const RoundData& round, const Series& sums,
                     const std::vector<RoleData>& roles) {
  RoundData summed{round.round, round.begin_ns, round.end_ns, {}, {}};
  summed.metrics[kRoundSeconds] = static_cast<double>(round.end_ns - round.begin_ns) * 1e-9;
  if (const auto peak = largest_between(sums, round.begin_ns, round.end_ns)) {
    summed.metrics[kPeakRss] = static_cast<double>(*peak);
  }
  for (const char* metric : {kEndRss, kPeakRssFile})
    if (const auto sum = sum_of_round(roles, round.round, metric)) summed.metrics[metric] = *sum;
  return summed;
}

void add_peaks(RoleData& tree, const TrialTrace& trace, const std::vector<RoleData>& roles) {
  std::optional<double> peak;
  if (const auto sampled = largest_between(trace.tree_rss, 0, INT64_MAX)) {
    peak = static_cast<double>(*sampled);
  }
  // All processes together are never less than one of them at its peak, which may be shorter than
  // the sampling interval.
  for (const RoleData& role : roles) {
    if (const auto own = role.metrics.value(kPeakRss)) peak = std::max(peak.value_or(0), *own);
  }
  if (peak) tree.metrics[kPeakRss] = *peak;
}

/// As with the peak, never less than what one of them shows by its own.
void add_above_idle(RoleData& tree, const TrialTrace& trace, const std::vector<RoleData>& roles) {
  std::int64_t level = 0;
  std::int64_t from_ns = 0;
  for (const RoleTrace& role : trace.roles) {
    if (role.of_descendants) continue;
    const auto idle = idle_level(role);
    if (!idle) return;
    level += idle->bytes;
    from_ns = std::max(from_ns, idle->t_ns);
  }
  std::optional<double> peak;
  if (const auto sampled = largest_between(trace.tree_rss, from_ns, INT64_MAX))
    peak = static_cast<double>(*sampled);
  for (const RoleData& role : roles) {
    const auto above = role.metrics.value(kPeakRssAboveIdle);
    const auto idle = role.metrics.value(kIdleRss);
    if (above && idle) peak = std::max(peak.value_or(0), *above + *idle);
  }
  if (peak) tree.metrics[kPeakRssAboveIdle] = std::max(0.0, *peak - static_cast<double>(level));
}

void add_cgroup(RoleData& tree, const TrialTrace& trace) {
  const CgroupParts& parts = trace.cgroup_parts;
  const std::map<std::string, std::optional<std::int64_t>> values = {
      {kPeakCgroup, trace.peak_cgroup_bytes},
      {kPeakCgroupAnon, parts.anon},
      {kPeakCgroupFile, parts.file},
      {kPeakCgroupShmem, parts.shmem},
      {kPeakCgroupKernel, parts.kernel}};
  for (const auto& [name, value] : values) {
    if (value) tree.metrics[name] = static_cast<double>(*value);
  }
  if (!trace.shared_once || trace.shared_once->bytes == 0) return;
  // The kernel brings memory.stat up to date late, while a group's peak is exact.
  const std::int64_t at_peak = trace.peak_cgroup_bytes.value_or(0) - trace.shared_once->besides;
  tree.metrics[kPeakSharedOnce] = static_cast<double>(std::max(trace.shared_once->bytes, at_peak));
  tree.metrics[kRssCountedAgain] = static_cast<double>(trace.shared_once->counted_again);
}

std::optional<double> sum_of(const PssSweep& sweep) {
  if (!sweep.complete) return std::nullopt;
  double sum = 0;
  for (const auto& [role, bytes] : sweep.bytes) sum += bytes;
  return sum;
}

}  // namespace

RoleData tree_metrics(const TrialTrace& trace, const std::vector<RoleData>& roles) {
  RoleData tree;
  tree.role = kTree;
  if (roles.empty()) return tree;
  tree.series.push_back(trace.tree_rss);
  for (const RoundData& round : reference_role(roles, trace.reference).rounds) {
    RoundData summed = tree_round(round, trace.tree_rss, roles);
    if (const auto charged = trace.cgroup_rounds.find(round.round);
        charged != trace.cgroup_rounds.end())
      summed.metrics[kPeakCgroup] = static_cast<double>(charged->second);
    tree.rounds.push_back(std::move(summed));
  }
  if (!tree.rounds.empty()) {
    const auto& last = tree.rounds.back().metrics;
    if (const auto end = last.find(kEndRss); end != last.end()) tree.metrics.insert(*end);
  }
  add_peaks(tree, trace, roles);
  add_above_idle(tree, trace, roles);
  for (const char* name : {kIdleRss, kCpuSeconds, kMinorFaults, kMajorFaults, kSwapped}) {
    add_sum(tree, trace, roles, name);
  }
  add_pss(tree, trace.sweeps, sum_of);
  keep_pss_of_the_peak(tree, trace.tree_rss);
  add_tree_heap(tree, trace, roles);
  add_tree_gpu(tree, trace);
  add_cgroup(tree, trace);
  return tree;
}

}  // namespace memduel
