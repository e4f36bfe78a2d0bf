#include "workloads/graph_training/vgae.h"

#include <fmt/format.h>

namespace memduel {
namespace {

constexpr double kVgaeDropout = 0.2;
constexpr double kIdentifierWeight = 0.1;
constexpr double kNeighbourWeight = 0.05;
constexpr double kDivergenceWeight = 0.01;

torch::nn::Sequential make_head(std::int64_t latent, std::int64_t identifiers) {
  return torch::nn::Sequential(torch::nn::Linear(latent, latent), torch::nn::ReLU(),
                               torch::nn::Linear(latent, identifiers));
}

torch::Tensor neighbour_identifiers(const GraphBatch& batch) {
  return batch.identifiers().index_select(0, batch.edge_index.select(0, 1));
}

/// Binary cross entropy is softplus(score), less the score where the target is 1. Only the scores
/// are kept, and one tensor of their size is made in either direction.
class SparseNeighbourhood : public torch::autograd::Function<SparseNeighbourhood> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& scores, const torch::Tensor& places) {
    context->save_for_backward({scores, places});
    const torch::Tensor all = torch::softplus(scores).sum();
    return (all - scores.flatten().index_select(0, places).sum()) /
           static_cast<double>(scores.numel());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    torch::Tensor gradient = saved[0].sigmoid();
    gradient.view(-1).index_add_(0, saved[1],
                                 torch::full(saved[1].sizes(), -1, gradient.options()));
    return {gradient.mul_(gradients[0] / static_cast<double>(gradient.numel())), torch::Tensor()};
  }
};

}  // namespace

VgaeImpl::Layer VgaeImpl::make_layer(const std::string& name, std::int64_t in, int width,
                                     int heads) {
  if (width % heads != 0) heads = 1;
  return {register_module(name, GraphAttention(in, width / heads, heads)),
          register_module(name + "_norm", torch::nn::BatchNorm1d(width))};
}

VgaeImpl::VgaeImpl(const VgaeShape& shape, std::int64_t identifiers, Activations activations)
    : activations_(activations),
      embedding_(register_module("embedding", torch::nn::Embedding(identifiers, shape.embedding))),
      mean_(nullptr),
      log_variance_(nullptr),
      numbers_(nullptr),
      identifiers_(nullptr),
      neighbours_(nullptr) {
  std::int64_t in = shape.embedding + kGraphInputs - 1;
  for (std::size_t i = 0; i < shape.hidden.size(); ++i) {
    encoder_.push_back(
        make_layer(fmt::format("encoder{}", i), in, shape.hidden[i], i == 0 ? shape.heads : 1));
    in = shape.hidden[i];
  }
  mean_ = register_module("mean", torch::nn::Linear(in, shape.latent));
  log_variance_ = register_module("log_variance", torch::nn::Linear(in, shape.latent));
  in = shape.latent;
  for (std::size_t i = shape.hidden.size() - 1; i > 0; --i) {
    decoder_.push_back(
        make_layer(fmt::format("decoder{}", i), in, shape.hidden[i], shape.decoder_heads));
    in = shape.hidden[i];
  }
  numbers_ = register_module("numbers", GraphAttention(in, kGraphInputs - 1, 1));
  identifiers_ = register_module("identifiers", make_head(shape.latent, identifiers));
  neighbours_ = register_module("neighbours", make_head(shape.latent, identifiers));
}

torch::Tensor VgaeImpl::run_layers(std::vector<Layer>& layers, torch::Tensor nodes,
                                   const Links& links) {
  for (Layer& layer : layers)
    nodes = torch::dropout(
        torch::relu(layer.norm(layer.attention->forward(nodes, links, activations_))), kVgaeDropout,
        is_training());
  return nodes;
}

Reconstruction VgaeImpl::forward(const GraphBatch& batch) {
  const Links links = links_of(batch);
  const torch::Tensor encoded = run_layers(
      encoder_, torch::cat({embedding_(batch.identifiers()), batch.numbers()}, 1), links);
  Reconstruction made;
  made.mean = mean_(encoded);
  made.log_variance = log_variance_(encoded);
  torch::Tensor latent = made.mean;
  if (is_training()) latent = latent + torch::randn_like(latent) * (0.5 * made.log_variance).exp();
  made.numbers = numbers_->forward(run_layers(decoder_, latent, links), links, activations_);
  made.identifiers = identifiers_->forward(latent);
  made.neighbours = neighbours_->forward(latent);
  return made;
}

torch::Tensor neighbourhood_loss(const torch::Tensor& scores, const GraphBatch& batch,
                                 NeighbourhoodTarget target) {
  const torch::Tensor sources = batch.edge_index.select(0, 0);
  const torch::Tensor neighbours = neighbour_identifiers(batch);
  if (target == NeighbourhoodTarget::sparse)
    return SparseNeighbourhood::apply(scores.to(torch::kFloat),
                                      sources * scores.size(1) + neighbours);
  torch::Tensor ones = torch::zeros(scores.sizes(), scores.options().dtype(torch::kFloat));
  ones.index_put_({sources, neighbours}, 1);
  return torch::binary_cross_entropy_with_logits(scores.to(torch::kFloat), ones);
}

torch::Tensor vgae_loss(const Reconstruction& made, const GraphBatch& batch,
                        NeighbourhoodTarget target) {
  const torch::Tensor divergence =
      -0.5 *
      (1 + made.log_variance - made.mean.pow(2) - made.log_variance.exp()).to(torch::kFloat).mean();
  return torch::mse_loss(made.numbers.to(torch::kFloat), batch.numbers()) +
         kIdentifierWeight * torch::nn::functional::cross_entropy(
                                 made.identifiers.to(torch::kFloat), batch.identifiers()) +
         kNeighbourWeight * neighbourhood_loss(made.neighbours, batch, target) +
         kDivergenceWeight * divergence;
}

torch::Tensor reconstruction_errors(const Reconstruction& made, const GraphBatch& batch) {
  using torch::nn::functional::CrossEntropyFuncOptions;
  const torch::Tensor numbers = (made.numbers.to(torch::kFloat) - batch.numbers()).pow(2).mean(1);
  const torch::Tensor identifiers =
      torch::nn::functional::cross_entropy(made.identifiers.to(torch::kFloat), batch.identifiers(),
                                           CrossEntropyFuncOptions().reduction(torch::kNone));
  return mean_over_nodes(batch, numbers + kIdentifierWeight * identifiers);
}

}  // namespace memduel
