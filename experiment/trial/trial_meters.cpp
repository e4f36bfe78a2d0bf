#include "experiment/trial/trial_meters.h"

#include <algorithm>

#include "base/metric_catalogue.h"
#include "experiment/marks/monotonic.h"
#include "profilers/meters/nvml_meter.h"
#include "profilers/meters/registry.h"

namespace memduel {
namespace {

/// The place of a series, in the trace of the tree.
Series& place_of(const std::string& metric, TrialTrace& trace) {
  if (metric == kGpuUsed) return trace.tree_gpu;
  if (metric == "rss_file_bytes") return trace.tree_rss_of_files;
  if (metric == "heap_bytes") return trace.tree_heap;
  if (metric == "mapped_bytes") return trace.tree_mapped;
  if (metric == "heap_and_mapped_bytes") return trace.tree_heap_and_mapped;
  return trace.tree_rss;
}

/// ... of a role.
Series& place_of(const std::string& metric, RoleTrace& trace) {
  if (metric == kGpuUsed) return trace.gpu;
  if (metric == kPeakLargestProcess) return trace.process_peaks;
  if (metric == "rss_file_bytes") return trace.rss_of_files;
  if (metric == "heap_bytes") return trace.heap;
  if (metric == "mapped_bytes") return trace.mapped;
  if (metric == "heap_and_mapped_bytes") return trace.heap_and_mapped;
  if (metric == "uncounted_bytes") return trace.uncounted;
  return trace.rss;
}

}  // namespace

TrialMeters::TrialMeters(const TrialPlan& plan)
    : begin_cpu_ns_(clock_ns(CLOCK_PROCESS_CPUTIME_ID)),
      pace_(static_cast<std::int64_t>(plan.interval_ms * 1e6), monotonic_ns()),
      costly_(monotonic_ns(), plan.rounds.has_value()) {
  MeterSite site;
  for (const ProcessSpec& process : plan.processes) {
    if (process.heap_dir)
      site.heap_directories[process.role] = *process.heap_dir;
    else if (!process.is_never_counted)
      site.left_out.insert(process.role);
  }
  for (const std::string& name : plan.meters) {
    const MeterEntry& entry = meter_named(name);
    if (entry.make != nullptr) meters_.push_back(entry.make(site));
  }
}

void TrialMeters::add(const std::string& role, pid_t pid) {
  for (const auto& meter : meters_) meter->add(role, pid);
}

std::int64_t TrialMeters::due_ns() const {
  return meters_.empty() || resting_ ? INT64_MAX : due_ns_;
}

std::int64_t TrialMeters::cpu_ns() const {
  return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns_;
}

double TrialMeters::cpu_seconds() const {
  return static_cast<double>(cpu_ns()) * 1e-9;
}

void TrialMeters::sample(std::int64_t now_ns) {
  if (now_ns < due_ns()) return;
  bool moved = false;
  for (const auto& meter : meters_) moved = meter->sample(now_ns) || moved;
  due_ns_ = pace_.next(now_ns, cpu_ns(), moved);
}

MeterReading TrialMeters::read(const std::string& role) {
  MeterReading all;
  if (resting_) return all;
  for (const auto& meter : meters_) {
    MeterReading reading = meter->read(role);
    all.counters.merge(reading.counters);
    all.values.merge(reading.values);
  }
  return all;
}

void TrialMeters::sweep(const std::vector<std::string>& roles, bool all_roles, Need need) {
  const std::int64_t now_ns = monotonic_ns();
  if (need == Need::if_affordable && (resting_ || !costly_.affordable(now_ns))) {
    ++skipped_sweeps_;
    return;
  }
  const std::int64_t cpu_before = cpu_ns();
  PssSweep sweep{now_ns, {}, all_roles};
  for (const std::string& role : roles) {
    for (const auto& meter : meters_) {
      const Metrics values = meter->read_costly(role);
      const auto pss = values.find("pss_bytes");
      if (pss != values.end()) sweep.bytes[role] = pss->second;
    }
    sweep.complete = sweep.complete && sweep.bytes.contains(role);
  }
  costly_.spent(cpu_ns() - cpu_before);
  if (!sweep.bytes.empty()) sweeps_.push_back(std::move(sweep));
}

void TrialMeters::collect(TrialTrace& trace) const {
  trace.sweeps = sweeps_;
  for (const auto& meter : meters_) {
    for (auto& [role, series] : meter->series()) {
      if (role == kTree && series.metric != "uncounted_bytes")
        place_of(series.metric, trace) = series;
      for (RoleTrace& each : trace.roles) {
        if (each.role == role) place_of(series.metric, each) = series;
      }
    }
  }
}

}  // namespace memduel
