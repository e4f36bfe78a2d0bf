// The parts that a training's memory falls into: parameters, gradients, the optimizer's state,
// activations, data.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace memduel {

std::int64_t parameter_bytes(const torch::nn::Module& network);
/// Of those that are there.
std::int64_t gradient_bytes(const torch::nn::Module& network);
/// Adam's two averages of every parameter that was stepped.
std::int64_t optimizer_bytes(const torch::optim::Adam& optimizer);

struct TrainingParts {
  std::int64_t parameters = 0;
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;
  std::int64_t activations = 0;  ///< between the forward and the backward pass
  std::int64_t data = 0;         ///< of a batch
};

/// Sends each as a gauge: parameter_bytes, gradient_bytes, optimizer_bytes, activation_bytes,
/// data_bytes. Activations of 0 were not measured, and are not sent.
void send_part_gauges(const TrainingParts& parts);

}  // namespace memduel
