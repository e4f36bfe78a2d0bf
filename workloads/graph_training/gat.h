// KD-GAT's classifier of graphs: does the traffic of a window hold an attack?
#pragma once

#include "training/graph_models.h"
#include "workloads/graph_training/graph_attention.h"

namespace memduel {

/// Layers of graph attention whose outputs are joined, their mean over a graph's nodes, and fully
/// connected layers.
class GatImpl : public torch::nn::Module {
 public:
  using Shape = GatShape;

  /// @param identifiers that nodes may have.
  GatImpl(const GatShape& shape, std::int64_t identifiers,
          Activations activations = Activations::kept);

  /// Scores of the classes, [graphs, classes].
  torch::Tensor forward(const GraphBatch& batch);

 private:
  Activations activations_;
  torch::nn::Embedding embedding_;
  std::vector<GraphAttention> attentions_;
  std::vector<torch::nn::Linear> hidden_;
  torch::nn::Linear classes_;
};
TORCH_MODULE(Gat);

/// The mean cross entropy of scores [graphs, classes] in any precision, computed in 32 bits.
torch::Tensor classification_loss(const torch::Tensor& scores, const torch::Tensor& labels);

}  // namespace memduel
