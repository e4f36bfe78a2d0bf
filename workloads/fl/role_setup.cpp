// Where a role computes, and what it does before its first round.

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "fl/models.h"
#include "fl/probes.h"
#include "fl/roles.h"
#include "memduel/annotate.h"
#include "memduel/memory_torch.h"
#include "optimizations/optimizations.h"
#include "util/error.h"

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
                "workload.device", "see docs/gpu.md to build a worker for a GPU");
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

std::optional<int> server_arenas(const WorkerConfig& config) {
  return make_optimizations(config.optimizations, config.workload.transport.max_message_bytes)
      .arenas;
}

std::optional<int> client_arenas(const WorkerConfig& config) {
  const Optimizations chosen =
      make_optimizations(config.optimizations, config.workload.transport.max_message_bytes);
  return chosen.client_arenas ? chosen.client_arenas : chosen.arenas;
}

std::string client_name(int client) {
  return fmt::format("client-{}", client);
}

at::Device warm_up(const WorkerConfig& config, const std::string& device_name) {
  // LibTorch takes the second number once per process, which in tests holds several roles.
  static std::once_flag once;
  std::call_once(once, [&] {
    torch::set_num_threads(config.workload.threads);
    torch::set_num_interop_threads(1);
  });
  const at::Device device = open_device(device_name);
  install_probes(config.meters, device.is_cuda() ? OnGpu::yes : OnGpu::no);
  const torch::Tensor small = torch::ones({8, 8}).to(device);
  static_cast<void>(small.mm(small).sum().item<float>());
  send_idle_gauges();
  return device;
}

namespace {

Model build_on_cpu(const WorkerConfig& config) {
  const WorkloadConfig& workload = config.workload;
  const bool is_table = workload.model == kCustomTable || workload.model == kLlamaTable;
  if (is_table && workload.kind != "state-dict")
    throw Error(
        ExitCode::usage,
        fmt::format("\"{}\" is a table of shapes without a network to train", workload.model),
        "workload.model", "use it with workload kind state-dict");
  if (is_table) {
    const std::vector<NamedShape> table =
        workload.model == kCustomTable ? read_table(workload.tensors) : llama_3_1_8b();
    return make_state(scale_table(table, workload.state_bytes), config.seed);
  }
  if (workload.state_bytes != 0)
    throw Error(ExitCode::usage, "only a table of shapes can be scaled", "workload.state_bytes",
                fmt::format("models \"{}\" and \"{}\" are tables", kLlamaTable, kCustomTable));
  return make_model(workload.model, config.seed);
}

}  // namespace

Model build_model(const WorkerConfig& config, const at::Device& device) {
  // LibTorch's random numbers come from one generator per process, which may hold several roles.
  static std::mutex generator;
  const std::lock_guard lock(generator);
  return move_to(build_on_cpu(config), device);
}

TransportOptions transport_options(const WorkerConfig& config, const Optimizations& optimizations) {
  TransportOptions options = config.workload.transport;
  options.bounded_window = optimizations.flow_control == FlowControl::bounded;
  return options;
}

}  // namespace memduel
