// One network's training: steps of Adam over batches of graphs, in a chosen precision; how large a
// batch is chosen, by trying steps.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "budget/largest_batch.h"
#include "fl/training.h"
#include "graph_networks.h"
#include "graph_switches.h"
#include "kdgat/graph_models.h"

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

// A network of a training on graphs and a step of it, as they are made to see what they take.

/// @tparam Network Gat or Vgae, as the model is. The identifiers are the store's.
template <class Network>
Network make_graph_network(const GraphModel& model, const GraphStore& store,
                           Activations activations, const at::Device& device) {
  Network network(std::get<typename Network::ContainedType::Shape>(model.shape),
                  static_cast<std::int64_t>(store.identifiers()), activations);
  network->to(device);
  return network;
}

/// A step with these graphs beside as many batches as the workers of a loader keep ready, each as
/// large.
void try_step(const GraphStore& store, std::span<const std::size_t> indices, int loader_workers,
              const at::Device& device, NetworkTrainer& trainer, const NetworkTrainer::Loss& loss);

// How many graphs a step takes, by each value of switch batch_size.

struct BatchQuestion {
  const GraphModel& model;
  std::int64_t identifiers = 0;
  std::int64_t teacher_bytes = 0;
  double nodes = 0;  ///< of a graph that few are larger than
  double edges = 0;
  std::int64_t configured = 0;  ///< fixed: the answer, else the most
  double device_bytes = 0;      ///< of which the model's utilization may be used
  Precision precision{};
};

/// @param step runs a training step of the same network; measured and searched call it.
std::int64_t choose_batch(BatchSizing sizing, const BatchQuestion& question,
                          const TrainingStep& step, const at::Device& device);

}  // namespace memduel
