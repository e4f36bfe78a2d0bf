#include "workloads/probes/device_bytes.h"

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

}  // namespace memduel
