#include "workloads/federated/device.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "memduel/annotate.h"
#include "memduel/memory_torch.h"
#include "workloads/probes/cuda_bytes.h"
#include "workloads/probes/gauges.h"

namespace memduel {
namespace {

/// The same bits in every trial: kernels that add in the order in which threads come are not used
/// where LibTorch has others, and said to be used (on stderr) where it has none.
void use_deterministic_kernels() {
  at::globalContext().setBenchmarkCuDNN(false);
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
}

}  // namespace

at::Device open_device(const std::string& name) {
  const at::Device device(name);
  if (!device.is_cuda()) return device;
  const int index = device.has_index() ? device.index() : 0;
  if (const std::string why = why_no_cuda(index); !why.empty())
    throw Error(ExitCode::cannot_measure, fmt::format("device \"{}\": {}", name, why),
                "workload.device", "docs/gpu.md builds a worker for a GPU");
  use_deterministic_kernels();
  use_gpu(index);
  return {at::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

void begin_phase(const at::Device& device, const char* name) {
  await_device(device);
  send_phase_gauges();
  memduel_phase(name);
}

void await_device(const at::Device& device) {
  if (device.is_cuda()) torch::cuda::synchronize(device.index());
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
