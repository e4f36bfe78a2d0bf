#include "workloads/federated/role_setup.h"

#include <fmt/format.h>

#include <mutex>

#include "base/error.h"
#include "workloads/models/shape_table.h"
#include "workloads/probes/gauges.h"

namespace memduel {

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
        fmt::format("\"{}\" is a table of shapes: there is no network to train", workload.model),
        "workload.model", "workload kind state-dict carries it");
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
