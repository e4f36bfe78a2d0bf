// KD-GAT's networks and what goes through them. A batch: several graphs as one, which falls into
// parts, nodes and edges one graph after the other. Multi-head graph attention (Veličković et al.
// 2018), as PyTorch Geometric's GATConv computes it. The classifier: does the traffic of a window
// hold an attack? The variational graph autoencoder: trained on traffic without attacks, it gives
// unusual graphs back badly; its errors say how hard graphs are.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <span>
#include <vector>

#include "kdgat/graph_file.h"
#include "kdgat/graph_models.h"
#include "memduel/memory_torch.h"

namespace memduel {

struct GraphBatch {
  torch::Tensor node_features;  ///< float [nodes, kNodeFeatures]
  torch::Tensor edge_index;     ///< int64 [2, edges]: sources, then targets, numbered in the batch
  torch::Tensor edge_features;  ///< float [edges, kEdgeFeatures]; carried along, read by no network
  torch::Tensor graph_of_node;  ///< int64 [nodes]
  torch::Tensor labels;         ///< int64 [graphs]

  [[nodiscard]] std::int64_t graphs() const { return labels.size(0); }
  [[nodiscard]] std::int64_t nodes() const { return node_features.size(0); }
  [[nodiscard]] std::int64_t bytes() const;
  [[nodiscard]] GraphBatch on(const at::Device& device) const;

  /// The identifier of each node, int64 [nodes].
  [[nodiscard]] torch::Tensor identifiers() const;
  /// The other features, float [nodes, kNodeFeatures - 1].
  [[nodiscard]] torch::Tensor numbers() const;
};

/// The graphs at `indices`, copied out of the store. Throws Error(io) as GraphStore::graph() does.
GraphBatch make_batch(const GraphStore& store, std::span<const std::size_t> indices);

/// The means over each graph's nodes of values [nodes, …], as [graphs, …].
torch::Tensor mean_over_nodes(const GraphBatch& batch, const torch::Tensor& values);

/// Who listens to whom: every edge between two nodes, and each node to itself once.
struct Links {
  torch::Tensor sources;  ///< int64 [links]
  torch::Tensor targets;  ///< likewise
  std::int64_t nodes = 0;
};
Links links_of(const GraphBatch& batch);

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

/// What the autoencoder makes of a batch.
struct Reconstruction {
  torch::Tensor numbers;       ///< [nodes, kGraphInputs - 1], all features but the identifier
  torch::Tensor identifiers;   ///< scores, [nodes, identifiers]
  torch::Tensor neighbours;    ///< scores of being a target, [nodes, identifiers]
  torch::Tensor mean;          ///< of the latent values, [nodes, latent]
  torch::Tensor log_variance;  ///< likewise
};

class VgaeImpl : public torch::nn::Module {
 public:
  using Shape = VgaeShape;

  /// @param identifiers that nodes may have.
  VgaeImpl(const VgaeShape& shape, std::int64_t identifiers,
           Activations activations = Activations::kept);

  /// Latent values are drawn while it trains; else they are their mean.
  Reconstruction forward(const GraphBatch& batch);

 private:
  /// Graph attention and, but for the last, batch norm.
  struct Layer {
    GraphAttention attention;
    torch::nn::BatchNorm1d norm;
  };
  Layer make_layer(const std::string& name, std::int64_t in, int width, int heads);
  torch::Tensor run_layers(std::vector<Layer>& layers, torch::Tensor nodes, const Links& links);

  Activations activations_;
  torch::nn::Embedding embedding_;
  std::vector<Layer> encoder_;
  torch::nn::Linear mean_;
  torch::nn::Linear log_variance_;
  std::vector<Layer> decoder_;
  GraphAttention numbers_;
  torch::nn::Sequential identifiers_;
  torch::nn::Sequential neighbours_;
};
TORCH_MODULE(Vgae);

/// neighbourhood_target: the identifiers that a node's edges lead to as a tensor of zeros and ones,
/// [nodes, identifiers], or as their places alone.
enum class NeighbourhoodTarget { dense, sparse };

/// The mean over nodes and identifiers of the binary cross entropy between scores [nodes,
/// identifiers] and whether an edge leads from the node to one with that identifier.
torch::Tensor neighbourhood_loss(const torch::Tensor& scores, const GraphBatch& batch,
                                 NeighbourhoodTarget target);

/// What it is trained to lower: the mean squared error of the numbers, a tenth of the identifiers'
/// cross entropy, a twentieth of the neighbourhood's, a hundredth of the divergence of the latent
/// values from a standard normal distribution.
torch::Tensor vgae_loss(const Reconstruction& made, const GraphBatch& batch,
                        NeighbourhoodTarget target);

/// How badly each graph comes back, [graphs]: the mean squared error of its numbers and a tenth of
/// the cross entropy of its identifiers.
torch::Tensor reconstruction_errors(const Reconstruction& made, const GraphBatch& batch);

/// difficulty_scoring: how many graphs go through the autoencoder at once.
enum class DifficultyScoring {
  one_by_one,
  chunked,  ///< likewise, and a GPU's cache is emptied after every 500 and at the end
  batched,  ///< as many as a step takes, at most 500
};

/// The reconstruction error of each of `graphs`, in their order. The network is in evaluation mode
/// afterwards. @param step_graphs that a step of its training took.
std::vector<float> score_graphs(Vgae& network, const GraphStore& store,
                                std::span<const std::size_t> graphs, DifficultyScoring scoring,
                                std::size_t step_graphs, const at::Device& device,
                                DeviceMemory& memory = torch_cuda());

}  // namespace memduel
