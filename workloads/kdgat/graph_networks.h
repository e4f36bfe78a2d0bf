// KD-GAT's variational graph autoencoder: trained on traffic without attacks, it gives unusual
// graphs back badly.
#pragma once

#include "training/graph_models.h"
#include "workloads/graph_training/graph_attention.h"

namespace memduel {

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

}  // namespace memduel
