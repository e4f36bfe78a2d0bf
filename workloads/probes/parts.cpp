#include "workloads/probes/parts.h"

#include "memduel/annotate.h"

namespace memduel {
namespace {

std::int64_t tensor_bytes(const torch::Tensor& tensor) {
  return tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
}

}  // namespace

std::int64_t parameter_bytes(const torch::nn::Module& network) {
  std::int64_t sum = 0;
  for (const torch::Tensor& one : network.parameters()) sum += tensor_bytes(one);
  return sum;
}

std::int64_t gradient_bytes(const torch::nn::Module& network) {
  std::int64_t sum = 0;
  for (const torch::Tensor& one : network.parameters()) sum += tensor_bytes(one.grad());
  return sum;
}

std::int64_t optimizer_bytes(const torch::optim::Adam& optimizer) {
  std::int64_t sum = 0;
  for (const auto& [parameter, state] : optimizer.state()) {
    const auto& averages = static_cast<const torch::optim::AdamParamState&>(*state);
    sum += tensor_bytes(averages.exp_avg()) + tensor_bytes(averages.exp_avg_sq());
  }
  return sum;
}

void send_part_gauges(const TrainingParts& parts) {
  memduel_gauge("parameter_bytes", static_cast<double>(parts.parameters));
  memduel_gauge("gradient_bytes", static_cast<double>(parts.gradients));
  memduel_gauge("optimizer_bytes", static_cast<double>(parts.optimizer));
  if (parts.activations > 0)
    memduel_gauge("activation_bytes", static_cast<double>(parts.activations));
  memduel_gauge("data_bytes", static_cast<double>(parts.data));
}

}  // namespace memduel
