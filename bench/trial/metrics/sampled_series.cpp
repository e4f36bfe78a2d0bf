#include "sampled_series.h"

#include <algorithm>
#include <map>
#include <string>

#include "model/metric_catalogue.h"

namespace memduel {
namespace {

std::optional<std::int64_t> value_at(const MarkEvent& event, const std::string& name) {
  const auto found = event.reading.values.find(name);
  if (found == event.reading.values.end()) return std::nullopt;
  return static_cast<std::int64_t>(found->second);
}

/// Samples, and what was read at marks, in order of time.
Series with_readings(const std::string& name, const Samples& samples,
                     const std::vector<MarkEvent>& marks) {
  std::map<std::int64_t, std::int64_t> points;
  if (const auto found = samples.others.find(name); found != samples.others.end())
    for (std::size_t i = 0; i < found->second.t_ns.size(); ++i)
      points[found->second.t_ns[i]] = found->second.values[i];
  for (const MarkEvent& event : marks)
    if (const auto value = value_at(event, name)) points[event.mark.t_ns] = *value;
  Series all{name, {}, {}};
  for (const auto& [t_ns, value] : points) {
    all.t_ns.push_back(t_ns);
    all.values.push_back(value);
  }
  return all;
}

/// At the last idle mark before the first round.
std::optional<IdleLevel> idle_gpu_level(const std::vector<MarkEvent>& marks) {
  std::optional<IdleLevel> level;
  for (const MarkEvent& event : marks) {
    if (event.mark.kind == Mark::Kind::round_begin) break;
    const auto used = value_at(event, kGpuUsed);
    if (event.mark.kind == Mark::Kind::idle && used) level = IdleLevel{event.mark.t_ns, *used};
  }
  return level;
}

const Series* gpu_series(const RoleData& data) {
  const auto found = std::ranges::find(data.series, kGpuUsed, &Series::metric);
  return found == data.series.end() ? nullptr : &*found;
}

void add_idle_level(RoleData& data, const Series& used, const IdleLevel& idle) {
  data.metrics[kIdleGpuUsed] = static_cast<double>(idle.bytes);
  if (const auto since = largest_between(used, idle.t_ns, INT64_MAX))
    data.metrics[kPeakGpuUsedAboveIdle] =
        static_cast<double>(std::max<std::int64_t>(0, *since - idle.bytes));
}

}  // namespace

void add_sampled_series(RoleData& data, const Samples& samples,
                        const std::vector<MarkEvent>& marks) {
  for (const MetricInfo& info : all_metrics()) {
    if (info.series.empty()) continue;
    Series series = with_readings(std::string(info.series), samples, marks);
    const auto set = [&](Metrics& metrics, std::int64_t begin_ns, std::int64_t end_ns) {
      if (const auto largest = largest_between(series, begin_ns, end_ns))
        metrics[info.name] = static_cast<double>(*largest);
    };
    set(data.metrics, 0, INT64_MAX);
    for (RoundData& round : data.rounds.edit()) set(round.metrics, round.begin_ns, round.end_ns);
    if (!series.t_ns.empty()) data.series.push_back(std::move(series));
  }
}

void add_gpu(RoleData& data, const std::vector<MarkEvent>& marks) {
  const Series* used = gpu_series(data);
  if (used == nullptr) return;
  if (const auto idle = idle_gpu_level(marks)) add_idle_level(data, *used, *idle);
  for (const MarkEvent& event : marks) {
    const auto bytes = value_at(event, kGpuUsed);
    if (event.mark.kind != Mark::Kind::round_end || !bytes) continue;
    data.metrics[kGpuUsed] = static_cast<double>(*bytes);
    for (RoundData& round : data.rounds.edit())
      if (round.round == event.mark.round) round.metrics[kGpuUsed] = static_cast<double>(*bytes);
  }
}

void add_tree_gpu(RoleData& tree) {
  if (const Series* used = gpu_series(tree))
    add_idle_level(tree, *used, {used->t_ns.front(), used->values.front()});
}

}  // namespace memduel
