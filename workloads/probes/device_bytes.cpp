#include "workloads/probes/device_bytes.h"

#include <algorithm>

#include "memduel/memory_torch.h"
#include "workloads/probes/cuda_bytes.h"
#include "workloads/probes/torch_bytes.h"

namespace memduel {

double live_bytes(const at::Device& device) {
  if (device.is_cpu()) return static_cast<double>(torch_bytes().live);
  return static_cast<double>(cuda_bytes().value_or(CudaBytes{}).allocated);
}

double peak_bytes(const at::Device& device) {
  if (device.is_cpu()) return static_cast<double>(torch_bytes().peak);
  return static_cast<double>(cuda_bytes().value_or(CudaBytes{}).peak_allocated);
}

void reset_peak_bytes(const at::Device& device) {
  if (device.is_cpu())
    reset_torch_peak();
  else
    reset_cuda_peaks();
}

std::int64_t available_bytes(const at::Device& device) {
  if (device.is_cuda())
    if (const auto bytes = torch_cuda().bytes()) return bytes->free;
  const MemoryInfo info = memory_info({.pss = false});
  const std::int64_t machine = info.ram_available_bytes.value_or(0);
  if (!info.limit || !info.limit_used_bytes) return machine;
  return std::min(machine, info.limit->bytes - *info.limit_used_bytes);
}

}  // namespace memduel
