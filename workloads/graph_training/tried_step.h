// A network of a training on graphs and a step of it, as they are made to see what they take.
#pragma once

#include <span>

#include "training/graph_models.h"
#include "workloads/graph_training/graph_attention.h"
#include "workloads/graph_training/network_trainer.h"

namespace memduel {

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

}  // namespace memduel
