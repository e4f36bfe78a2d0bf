// What the probes and the cleanups of a role send as gauges of its rounds.

#include <algorithm>

#include "fl/probes.h"
#include "memduel/allocator.h"
#include "memduel/annotate.h"
#include "memduel/memory.h"
#include "model/metric_catalogue.h"

namespace memduel {
namespace {

// Process-wide, like the allocators that they watch.
bool allocator_wanted = false;
bool torch_wanted = false;
bool cuda_wanted = false;

void send_allocator_gauges() {
  for (const auto& [name, value] : allocator_state().metrics())
    if (value) memduel_gauge(name, static_cast<double>(*value));
}

void send_torch_peak() {
  memduel_gauge(kPeakTorchCpu, static_cast<double>(torch_bytes().peak));
  reset_torch_peak();
}

void send_torch_gauges() {
  memduel_gauge(kTorchCpu, static_cast<double>(torch_bytes().live));
  send_torch_peak();
}

void send_cuda_peaks() {
  const auto device = cuda_bytes();
  if (!device) return;
  memduel_gauge(kPeakGpuAllocated, static_cast<double>(device->peak_allocated));
  memduel_gauge(kPeakGpuReserved, static_cast<double>(device->peak_reserved));
  reset_cuda_peaks();
}

void send_cuda_gauges() {
  const auto device = cuda_bytes();
  if (!device) return;
  memduel_gauge(kGpuAllocated, static_cast<double>(device->allocated));
  memduel_gauge(kGpuReserved, static_cast<double>(device->reserved));
  memduel_gauge(kGpuInactiveSplit, static_cast<double>(device->inactive_split));
  send_cuda_peaks();
}

}  // namespace

void install_probes(const std::vector<std::string>& meters, OnGpu on_gpu) {
  const auto wanted = [&](const char* name) {
    return std::ranges::find(meters, name) != meters.end();
  };
  allocator_wanted = wanted("allocator");
  torch_wanted = wanted("torch");
  if (torch_wanted) install_torch_probe();
  cuda_wanted = on_gpu == OnGpu::yes && wanted("cuda");
}

void send_idle_gauges() {
  if (!cuda_wanted) return;
  if (const auto device = cuda_bytes())
    memduel_gauge(kIdleGpuReserved, static_cast<double>(device->reserved));
  reset_cuda_peaks();
}

void mark_idle() {
  cleanup_memory({.heap = HeapCleanup::purge, .empty_device_cache = false});
  memduel_idle();
}

void send_phase_gauges() {
  if (torch_wanted) send_torch_peak();
  if (cuda_wanted) send_cuda_peaks();
}

void send_memory_gauges() {
  if (allocator_wanted) send_allocator_gauges();
  if (torch_wanted) send_torch_gauges();
  if (cuda_wanted) send_cuda_gauges();
}

void CleanupTime::begin_round() {
  const std::lock_guard lock(mutex_);
  if (!first_round_) first_round_ = Clock::now();
  seconds_ = 0;
  heap_seconds_ = 0;
}

void CleanupTime::add(const CleanupReport& report) {
  const std::lock_guard lock(mutex_);
  seconds_ += report.seconds;
  heap_seconds_ += report.heap_seconds;
  all_seconds_ += report.seconds;
}

void CleanupTime::end_round() {
  const std::lock_guard lock(mutex_);
  if (!first_round_) return;
  const double passed = std::chrono::duration<double>(Clock::now() - *first_round_).count();
  memduel_gauge(kCleanupSeconds, seconds_);
  memduel_gauge(kHeapCleanupSeconds, heap_seconds_);
  if (passed > 0) memduel_gauge(kCleanupRatio, all_seconds_ / passed);
}

}  // namespace memduel
