#include "workloads/probes/parts.h"

#include "memduel/annotate.h"

namespace memduel {
namespace {

std::int64_t tensor_bytes(const torch::Tensor& tensor) {
  return tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
}

void send_part(const char* metric, std::int64_t bytes) {
  memduel_gauge_better(metric, static_cast<double>(bytes), MEMDUEL_LOWER_IS_BETTER);
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
  send_part("parameter_bytes", parts.parameters);
  send_part("gradient_bytes", parts.gradients);
  send_part("optimizer_bytes", parts.optimizer);
  if (parts.activations > 0) send_part("activation_bytes", parts.activations);
  send_part("data_bytes", parts.data);
}

}  // namespace memduel
