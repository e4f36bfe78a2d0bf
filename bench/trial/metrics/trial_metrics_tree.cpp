#include <algorithm>

#include "end_state.h"
#include "heap_metrics.h"
#include "model/metric_catalogue.h"
#include "rss_peaks.h"
#include "sampled_series.h"
#include "trial/trial_trace.h"

namespace memduel {
namespace {

void add_sum(RoleData& tree, const TrialTrace& trace, const std::vector<RoleData>& roles,
             const std::string& name, OfAll of_all) {
  double sum = 0;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const bool is_in_parents = i < trace.roles.size() && trace.roles[i].of_descendants;
    if (of_all == OfAll::sum_of_started && is_in_parents) continue;
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

/// The peaks of each role, each at its time: all processes together are never less than one role,
/// whose peak may be shorter than the sampling interval.
Series peaks_of_roles(const TrialTrace& trace) {
  std::vector<std::pair<std::int64_t, std::int64_t>> peaks;
  for (const RoleTrace& role : trace.roles) {
    for (const RssStretch& stretch : rss_stretches(role))
      if (stretch.peak_bytes) peaks.emplace_back(stretch.peak_ns, *stretch.peak_bytes);
  }
  std::ranges::sort(peaks);
  Series series;
  for (const auto& [t_ns, bytes] : peaks) {
    series.t_ns.push_back(t_ns);
    series.values.push_back(bytes);
  }
  return series;
}

/// The most of all processes together after `begin_ns`, until `end_ns`.
std::optional<double> peak_between(const TrialTrace& trace, const Series& of_roles,
                                   std::int64_t begin_ns, std::int64_t end_ns) {
  const auto sampled = largest_between(trace.tree.rss, begin_ns, end_ns);
  const auto of_one = largest_between(of_roles, begin_ns + 1, end_ns);
  if (!sampled && !of_one) return std::nullopt;
  return static_cast<double>(std::max(sampled.value_or(0), of_one.value_or(0)));
}

RoundData tree_round(const RoundData& round, const std::vector<RoleData>& roles) {
  RoundData summed{round.round, round.begin_ns, round.end_ns, {}, {}};
  summed.metrics[kRoundSeconds] = static_cast<double>(round.end_ns - round.begin_ns) * 1e-9;
  for (const char* metric : {kEndRss, kPeakRssFile})
    if (const auto sum = sum_of_round(roles, round.round, metric)) summed.metrics[metric] = *sum;
  return summed;
}

/// Of the only role: what the kernel told of it is not sampled.
void take_peaks_of(RoleData& tree, const RoleData& role) {
  std::vector<RoundData>& rounds = tree.rounds.edit();
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    for (const char* name : {kPeakRss, kPeakRssNoFiles})
      if (const auto peak = role.rounds[i].metrics.value(name)) rounds[i].metrics[name] = *peak;
    rounds[i].peak_rss_is_sampled = role.rounds[i].peak_rss_is_sampled;
  }
  tree.outside_rounds = role.outside_rounds;
  tree.peak_rss_is_sampled = role.peak_rss_is_sampled;
  for (const char* name : {kPeakRss, kPeakRssNoFiles, kPeakLargestProcess})
    if (const auto value = role.metrics.value(name)) tree.metrics[name] = *value;
}

/// Sums over several roles are sampled, in rounds and outside them.
void add_sampled_peaks(RoleData& tree, const TrialTrace& trace,
                       const std::vector<RoleData>& roles) {
  const Series peaks = peaks_of_roles(trace);
  const auto raise = [&](double peak) {
    double& largest = tree.metrics.emplace(kPeakRss, peak).first->second;
    largest = std::max(largest, peak);
  };
  const auto add_part = [&](TrialPart part, std::int64_t begin_ns, std::int64_t end_ns) {
    const auto peak = peak_between(trace, peaks, begin_ns, end_ns);
    if (!peak) return;
    keep_largest(tree.outside_rounds, {part, begin_ns, end_ns, *peak, true});
    raise(*peak);
  };
  const auto without_files = [&trace](std::int64_t from_ns, std::int64_t to_ns) {
    return largest_without_files(trace.tree.rss, trace.tree.rss_of_files, from_ns, to_ns);
  };
  if (const auto peak = without_files(INT64_MIN, INT64_MAX))
    tree.metrics[kPeakRssNoFiles] = static_cast<double>(*peak);
  for (const RoleData& role : roles) {  // of one the kernel may know more than samples
    const auto peak = role.metrics.value(kPeakRssNoFiles);
    if (peak && *peak > tree.metrics.value(kPeakRssNoFiles).value_or(0))
      tree.metrics[kPeakRssNoFiles] = *peak;
  }
  std::int64_t begin_ns = INT64_MAX;
  std::int64_t end_ns = INT64_MIN;
  for (const RoleTrace& role : trace.roles) {
    begin_ns = std::min(begin_ns, role.begin_ns);
    end_ns = std::max(end_ns, end_of(role));
  }
  if (!trace.tree.rss.t_ns.empty()) {
    begin_ns = std::min(begin_ns, trace.tree.rss.t_ns.front());
    end_ns = std::max(end_ns, trace.tree.rss.t_ns.back());
  }
  TrialPart before = TrialPart::start_up;
  for (RoundData& round : tree.rounds.edit()) {
    add_part(before, begin_ns, round.begin_ns);
    if (const auto peak = peak_between(trace, peaks, round.begin_ns, round.end_ns)) {
      round.metrics[kPeakRss] = *peak;
      raise(*peak);
    }
    if (const auto peak = without_files(round.begin_ns, round.end_ns))
      round.metrics[kPeakRssNoFiles] = static_cast<double>(*peak);
    round.peak_rss_is_sampled = true;
    begin_ns = round.end_ns;
    before = TrialPart::between_rounds;
  }
  if (end_ns > begin_ns) add_part(TrialPart::after_rounds, begin_ns, end_ns);
  tree.peak_rss_is_sampled = true;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const auto largest = i < trace.roles.size() ? largest_process(trace.roles[i]) : std::nullopt;
    if (!largest) continue;
    double& most = tree.metrics[kPeakLargestProcess];
    most = std::max(most, static_cast<double>(*largest));
  }
}

/// By construction. Roles that were idle one after the other were never idle together: their sum is
/// no more than the peak.
void add_above_idle(RoleData& tree, const TrialTrace& trace, const std::vector<RoleData>& roles) {
  add_sum(tree, trace, roles, kIdleRss, OfAll::sum_of_started);
  const auto idle = tree.metrics.find(kIdleRss);
  const auto peak = tree.metrics.value(kPeakRss);
  if (idle == tree.metrics.end() || !peak) return;
  idle->second = std::min(idle->second, *peak);
  tree.metrics[kPeakRssAboveIdle] = *peak - idle->second;
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
  tree.series.push_back(trace.tree.rss);
  const RoleData& reference = reference_role(roles, trace.reference);
  for (const RoundData& round : reference.rounds) {
    RoundData summed = tree_round(round, roles);
    if (const auto charged = trace.cgroup_rounds.find(round.round);
        charged != trace.cgroup_rounds.end())
      summed.metrics[kPeakCgroup] = static_cast<double>(charged->second);
    tree.rounds.push_back(std::move(summed));
  }
  if (!tree.rounds.empty()) {
    const auto& last = tree.rounds.back().metrics;
    if (const auto end = last.find(kEndRss); end != last.end()) tree.metrics.insert(*end);
  }
  if (roles.size() == 1)
    take_peaks_of(tree, reference);
  else
    add_sampled_peaks(tree, trace, roles);
  add_above_idle(tree, trace, roles);
  for (const MetricInfo& info : all_metrics())
    if (info.of_all != OfAll::own) add_sum(tree, trace, roles, info.name, info.of_all);
  add_pss(tree, trace.sweeps, sum_of);
  keep_pss_of_the_peak(tree, trace.tree.rss);
  add_tree_heap(tree, trace, roles);
  add_sampled_series(tree, trace.tree, {});
  add_tree_gpu(tree);
  add_cgroup(tree, trace);
  add_tree_end_state(tree, trace);
  return tree;
}

}  // namespace memduel
