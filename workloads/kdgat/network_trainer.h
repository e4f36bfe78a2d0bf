// One network's training: steps of Adam over batches of graphs, in a chosen precision.
#pragma once

#include <functional>

#include "workloads/graph_training/graph_batch.h"
#include "workloads/models/mixed_precision.h"
#include "workloads/probes/parts.h"

namespace memduel {

class NetworkTrainer {
 public:
  /// Gradients are clipped to a norm of 1; weights decay by 0.0001, as KD-GAT has both. The network
  /// must outlive the trainer.
  NetworkTrainer(torch::nn::Module& network, double learning_rate, Precision precision,
                 const at::Device& device);

  using Loss = std::function<torch::Tensor(const GraphBatch& batch)>;

  /// One step; the batch is on the device. Returns the loss.
  double step(const GraphBatch& batch, const Loss& loss_of);

  /// Forward and backward passes alone: gradients are there afterwards, parameters as they were.
  double differentiate(const GraphBatch& batch, const Loss& loss_of);

  /// Since the last call: the largest activations and the largest batch.
  TrainingParts take_parts();

 private:
  torch::nn::Module& network_;
  torch::optim::Adam optimizer_;
  Precision precision_;
  at::Device device_;
  LossScaler scaler_;
  std::int64_t most_activations_ = 0;
  std::int64_t most_data_ = 0;
};

}  // namespace memduel
