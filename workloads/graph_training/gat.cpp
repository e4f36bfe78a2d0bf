#include "workloads/graph_training/gat.h"

#include <fmt/format.h>

namespace memduel {
namespace {

constexpr double kGatDropout = 0.2;

}  // namespace

GatImpl::GatImpl(const GatShape& shape, std::int64_t identifiers, Activations activations)
    : activations_(activations),
      embedding_(register_module("embedding", torch::nn::Embedding(identifiers, shape.embedding))),
      classes_(nullptr) {
  const std::int64_t width = std::int64_t{shape.hidden} * shape.heads;
  for (int i = 0; i < shape.layers; ++i) {
    const std::int64_t in = i == 0 ? shape.embedding + kGraphInputs - 1 : width;
    attentions_.push_back(register_module(fmt::format("attention{}", i),
                                          GraphAttention(in, shape.hidden, shape.heads)));
  }
  const std::int64_t joined = width * shape.layers;
  for (int i = 1; i < shape.fully_connected; ++i)
    hidden_.push_back(
        register_module(fmt::format("hidden{}", i), torch::nn::Linear(joined, joined)));
  classes_ = register_module("classes", torch::nn::Linear(joined, shape.classes));
}

torch::Tensor GatImpl::forward(const GraphBatch& batch) {
  const Links links = links_of(batch);
  torch::Tensor nodes = torch::cat({embedding_(batch.identifiers()), batch.numbers()}, 1);
  std::vector<torch::Tensor> outputs;
  for (GraphAttention& attention : attentions_) {
    nodes = torch::dropout(torch::elu(attention->forward(nodes, links, activations_)), kGatDropout,
                           is_training());
    outputs.push_back(nodes);
  }
  torch::Tensor graphs = mean_over_nodes(batch, torch::cat(outputs, 1));
  for (torch::nn::Linear& layer : hidden_)
    graphs = torch::dropout(torch::relu(layer(graphs)), kGatDropout, is_training());
  return classes_(graphs);
}

torch::Tensor classification_loss(const torch::Tensor& scores, const torch::Tensor& labels) {
  return torch::nn::functional::cross_entropy(scores.to(torch::kFloat), labels);
}

}  // namespace memduel
