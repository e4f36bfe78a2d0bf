#include "workloads/federated/role_setup.h"

#include <fmt/format.h>

#include "workloads/probes/gauges.h"

namespace memduel {

std::string client_name(int client) {
  return fmt::format("client-{}", client);
}

void warm_up(const WorkerConfig& config) {
  torch::set_num_threads(config.workload.threads);
  torch::set_num_interop_threads(1);
  install_probes(config.meters);
  const torch::Tensor small = torch::ones({8, 8});
  static_cast<void>(small.mm(small).sum().item<float>());
}

Model build_model(const WorkerConfig& config) {
  return make_model(config.workload.model, config.seed);
}

TransportOptions transport_options(const WorkerConfig& config, const Optimizations& optimizations) {
  TransportOptions options = config.workload.transport;
  options.bounded_window = optimizations.flow_control == FlowControl::bounded;
  return options;
}

}  // namespace memduel
