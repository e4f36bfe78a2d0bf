#include "workloads/probes/device_bytes.h"

#include "workloads/probes/cuda_bytes.h"
#include "workloads/probes/torch_bytes.h"

namespace memduel {
namespace {

constexpr DeviceCounters kCpu = {[] { return torch_bytes().live; },
                                 [] { return torch_bytes().peak; }, reset_torch_peak};
constexpr DeviceCounters kGpu = {[] { return cuda_bytes().value_or(CudaBytes{}).allocated; },
                                 [] { return cuda_bytes().value_or(CudaBytes{}).peak_allocated; },
                                 reset_cuda_peaks};
DeviceCounters others = kGpu;

const DeviceCounters& counters_of(const at::Device& device) {
  if (device.is_cpu()) return kCpu;
  return device.is_cuda() ? kGpu : others;
}

}  // namespace

void count_other_devices_with(const DeviceCounters& counters) {
  others = counters;
}

double live_bytes(const at::Device& device) {
  return static_cast<double>(counters_of(device).live());
}

double peak_bytes(const at::Device& device) {
  return static_cast<double>(counters_of(device).peak());
}

void reset_peak_bytes(const at::Device& device) {
  counters_of(device).reset_peak();
}

}  // namespace memduel
