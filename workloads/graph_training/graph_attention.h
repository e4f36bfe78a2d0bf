// Multi-head graph attention (Veličković et al. 2018), as PyTorch Geometric's GATConv computes it.
#pragma once

#include <torch/torch.h>

#include "workloads/graph_training/graph_batch.h"

namespace memduel {

/// What the backward pass needs of a layer: kept from the forward pass, or computed again.
enum class Activations { kept, recomputed };

/// A node's new values are the means of its sources' projected values, weighted by the softmax over
/// its sources of leaky_relu(a·source + b·target), head by head, and a bias.
class GraphAttentionImpl : public torch::nn::Module {
 public:
  /// Each of `heads` gives `per_head` values; their weights begin as Glorot and Bengio have them.
  GraphAttentionImpl(std::int64_t in, std::int64_t per_head, std::int64_t heads);

  /// [nodes, in] to [nodes, heads × per_head].
  torch::Tensor forward(const torch::Tensor& nodes, const Links& links);

  /// The same; `recomputed` keeps its input alone.
  torch::Tensor forward(const torch::Tensor& nodes, const Links& links, Activations activations);

 private:
  std::int64_t per_head_;
  std::int64_t heads_;
  torch::nn::Linear project_;
  torch::Tensor of_source_;  ///< [heads, per_head]
  torch::Tensor of_target_;  ///< likewise
  torch::Tensor bias_;       ///< [heads × per_head]
};
TORCH_MODULE(GraphAttention);

}  // namespace memduel
