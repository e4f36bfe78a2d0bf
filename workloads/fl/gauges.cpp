#include "workloads/probes/gauges.h"

#include <algorithm>

#include "base/metric_catalogue.h"
#include "memduel/allocator.h"
#include "memduel/annotate.h"
#include "memduel/memory.h"
#include "workloads/probes/cuda_bytes.h"
#include "workloads/probes/torch_bytes.h"

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

}  // namespace memduel
