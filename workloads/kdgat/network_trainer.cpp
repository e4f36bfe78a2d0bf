#include "workloads/graph_training/network_trainer.h"

#include <algorithm>
#include <utility>

#include "workloads/probes/device_bytes.h"

namespace memduel {
namespace {

constexpr double kGraphWeightDecay = 1e-4;
constexpr double kMostGradientNorm = 1.0;

}  // namespace

NetworkTrainer::NetworkTrainer(torch::nn::Module& network, double learning_rate,
                               Precision precision, const at::Device& device)
    : network_(network),
      optimizer_(network.parameters(),
                 torch::optim::AdamOptions(learning_rate).weight_decay(kGraphWeightDecay)),
      precision_(precision),
      device_(device),
      scaler_(precision) {
  expect_precision(precision, device);
}

double NetworkTrainer::differentiate(const GraphBatch& batch, const Loss& loss_of) {
  network_.train();
  optimizer_.zero_grad();
  const double before = live_bytes(device_);
  torch::Tensor loss;
  {
    const AutocastScope scope(precision_, device_);
    loss = loss_of(batch);
  }
  most_activations_ =
      std::max(most_activations_, static_cast<std::int64_t>(live_bytes(device_) - before));
  most_data_ = std::max(most_data_, batch.bytes());
  scaler_.scaled(loss).backward();
  return loss.item<double>();
}

double NetworkTrainer::step(const GraphBatch& batch, const Loss& loss_of) {
  const double loss = differentiate(batch, loss_of);
  const std::vector<torch::Tensor> parameters = network_.parameters();
  if (!scaler_.unscale(parameters)) return loss;
  torch::nn::utils::clip_grad_norm_(parameters, kMostGradientNorm);
  optimizer_.step();
  return loss;
}

TrainingParts NetworkTrainer::take_parts() {
  return {parameter_bytes(network_), gradient_bytes(network_), optimizer_bytes(optimizer_),
          std::exchange(most_activations_, 0), std::exchange(most_data_, 0)};
}

}  // namespace memduel
