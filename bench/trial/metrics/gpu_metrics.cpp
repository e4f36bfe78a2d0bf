#include "gpu_metrics.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "meters/nvml.h"
#include "model/metric_catalogue.h"

namespace memduel {
namespace {

std::optional<std::int64_t> used_at(const MarkEvent& event) {
  const auto found = event.reading.values.find(kGpuUsed);
  if (found == event.reading.values.end()) return std::nullopt;
  return static_cast<std::int64_t>(found->second);
}

/// Samples, and what was read at marks, in order of time.
Series with_readings(const Series& samples, const std::vector<MarkEvent>& marks) {
  std::map<std::int64_t, std::int64_t> points;
  for (std::size_t i = 0; i < samples.t_ns.size(); ++i) points[samples.t_ns[i]] = samples.values[i];
  for (const MarkEvent& event : marks)
    if (const auto used = used_at(event)) points[event.mark.t_ns] = *used;
  Series all{samples.metric, {}, {}};
  for (const auto& [t_ns, bytes] : points) {
    all.t_ns.push_back(t_ns);
    all.values.push_back(bytes);
  }
  return all;
}

/// At the last idle mark before the first round.
std::optional<IdleLevel> idle_gpu_level(const std::vector<MarkEvent>& marks) {
  std::optional<IdleLevel> level;
  for (const MarkEvent& event : marks) {
    if (event.mark.kind == Mark::Kind::round_begin) break;
    const auto used = used_at(event);
    if (event.mark.kind == Mark::Kind::idle && used) level = IdleLevel{event.mark.t_ns, *used};
  }
  return level;
}

void set_peak(Metrics& metrics, std::optional<std::int64_t> peak) {
  if (peak) metrics[kPeakGpuUsed] = static_cast<double>(*peak);
}

void add_levels(RoleData& data, const Series& used, const std::optional<IdleLevel>& idle) {
  set_peak(data.metrics, largest_between(used, 0, INT64_MAX));
  for (RoundData& round : data.rounds.edit())
    set_peak(round.metrics, largest_between(used, round.begin_ns, round.end_ns));
  if (!idle) return;
  data.metrics[kIdleGpuUsed] = static_cast<double>(idle->bytes);
  if (const auto since = largest_between(used, idle->t_ns, INT64_MAX))
    data.metrics[kPeakGpuUsedAboveIdle] =
        static_cast<double>(std::max<std::int64_t>(0, *since - idle->bytes));
}

}  // namespace

void add_gpu(RoleData& data, const RoleTrace& trace) {
  const Series used = with_readings(trace.gpu, trace.marks);
  if (used.t_ns.empty()) return;
  add_levels(data, used, idle_gpu_level(trace.marks));
  for (const MarkEvent& event : trace.marks) {
    const auto bytes = used_at(event);
    if (event.mark.kind != Mark::Kind::round_end || !bytes) continue;
    data.metrics[kGpuUsed] = static_cast<double>(*bytes);
    for (RoundData& round : data.rounds.edit())
      if (round.round == event.mark.round) round.metrics[kGpuUsed] = static_cast<double>(*bytes);
  }
  data.series.push_back(used);
}

void add_tree_gpu(RoleData& tree, const TrialTrace& trace) {
  const Series& used = trace.tree_gpu;
  if (used.t_ns.empty()) return;
  add_levels(tree, used, IdleLevel{used.t_ns.front(), used.values.front()});
  tree.series.push_back(used);
}

}  // namespace memduel
