// KD-GAT's networks and what goes through them: batches of graphs, graph attention, the classifier,
// the autoencoder, and how hard graphs are by the autoencoder's errors.

#include "graph_networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "fl/training.h"

namespace memduel {

std::int64_t GraphBatch::bytes() const {
  std::int64_t sum = 0;
  for (const torch::Tensor* one :
       {&node_features, &edge_index, &edge_features, &graph_of_node, &labels})
    sum += static_cast<std::int64_t>(one->nbytes());
  return sum;
}

GraphBatch GraphBatch::on(const at::Device& device) const {
  return {node_features.to(device), edge_index.to(device), edge_features.to(device),
          graph_of_node.to(device), labels.to(device)};
}

torch::Tensor GraphBatch::identifiers() const {
  return node_features.select(1, 0).to(torch::kLong);
}

torch::Tensor GraphBatch::numbers() const {
  return node_features.slice(1, 1);
}

GraphBatch make_batch(const GraphStore& store, std::span<const std::size_t> indices) {
  std::int64_t nodes = 0;
  std::int64_t edges = 0;
  for (const std::size_t index : indices) {
    const GraphView graph = store.graph(index);
    nodes += static_cast<std::int64_t>(graph.nodes());
    edges += static_cast<std::int64_t>(graph.edges());
  }
  GraphBatch batch{torch::empty({nodes, kNodeFeatures}), torch::empty({2, edges}, torch::kLong),
                   torch::empty({edges, kEdgeFeatures}), torch::empty({nodes}, torch::kLong),
                   torch::empty({static_cast<std::int64_t>(indices.size())}, torch::kLong)};
  auto* node_features = batch.node_features.data_ptr<float>();
  auto* edge_features = batch.edge_features.data_ptr<float>();
  auto* sources = batch.edge_index.data_ptr<std::int64_t>();
  auto* targets = sources + edges;
  auto* graph_of_node = batch.graph_of_node.data_ptr<std::int64_t>();
  auto* labels = batch.labels.data_ptr<std::int64_t>();
  std::int64_t first_node = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const GraphView graph = store.graph(indices[i]);
    const auto shift = [&](std::int64_t node) { return first_node + node; };
    const auto middle =
        graph.edge_index.begin() + static_cast<std::ptrdiff_t>(graph.edge_index.size() / 2);
    node_features = std::ranges::copy(graph.node_features, node_features).out;
    edge_features = std::ranges::copy(graph.edge_features, edge_features).out;
    sources = std::transform(graph.edge_index.begin(), middle, sources, shift);
    targets = std::transform(middle, graph.edge_index.end(), targets, shift);
    graph_of_node = std::fill_n(graph_of_node, graph.nodes(), static_cast<std::int64_t>(i));
    *labels++ = graph.label;
    first_node += static_cast<std::int64_t>(graph.nodes());
  }
  return batch;
}

torch::Tensor mean_over_nodes(const GraphBatch& batch, const torch::Tensor& values) {
  std::vector<std::int64_t> shape = values.sizes().vec();
  shape.front() = batch.graphs();
  const torch::Tensor sums =
      torch::zeros(shape, values.options()).index_add(0, batch.graph_of_node, values);
  const torch::Tensor counts =
      torch::zeros({batch.graphs()}, values.options())
          .index_add(0, batch.graph_of_node, torch::ones({batch.nodes()}, values.options()));
  shape.assign(shape.size(), 1);
  shape.front() = batch.graphs();
  return sums / counts.view(shape);
}

Links links_of(const GraphBatch& batch) {
  const torch::Tensor sources = batch.edge_index.select(0, 0);
  const torch::Tensor targets = batch.edge_index.select(0, 1);
  const torch::Tensor between = sources != targets;
  const torch::Tensor itself = torch::ones({batch.nodes()}, sources.options()).cumsum(0) - 1;
  return {torch::cat({sources.masked_select(between), itself}),
          torch::cat({targets.masked_select(between), itself}), batch.nodes()};
}

namespace {

constexpr double kNegativeSlope = 0.2;
/// What PyTorch Geometric adds to a softmax's divisor.
constexpr double kTiny = 1e-16;

/// [links, heads]: for every target and head, numbers that add up to 1.
torch::Tensor softmax_over_sources(const torch::Tensor& scores, const Links& links) {
  const std::vector<std::int64_t> shape = {links.nodes, scores.size(1)};
  torch::Tensor exponents;
  {
    const torch::NoGradGuard no_grad;
    exponents = torch::full(shape, -std::numeric_limits<double>::infinity(), scores.options())
                    .scatter_reduce(0, links.targets.unsqueeze(1).expand_as(scores), scores, "amax")
                    .index_select(0, links.targets);
  }
  const torch::Tensor powers = (scores - exponents).exp();
  const torch::Tensor sums =
      torch::zeros(shape, powers.options()).index_add(0, links.targets, powers);
  return powers / (sums.index_select(0, links.targets) + kTiny);
}

}  // namespace

GraphAttentionImpl::GraphAttentionImpl(std::int64_t in, std::int64_t per_head, std::int64_t heads)
    : per_head_(per_head),
      heads_(heads),
      project_(register_module(
          "project",
          torch::nn::Linear(torch::nn::LinearOptions(in, per_head * heads).bias(false)))),
      of_source_(register_parameter("of_source", torch::empty({heads, per_head}))),
      of_target_(register_parameter("of_target", torch::empty({heads, per_head}))),
      bias_(register_parameter("bias", torch::zeros({heads * per_head}))) {
  for (const torch::Tensor& weights : {project_->weight, of_source_, of_target_})
    torch::nn::init::xavier_uniform_(weights);
}

torch::Tensor GraphAttentionImpl::forward(const torch::Tensor& nodes, const Links& links) {
  const torch::Tensor values = project_(nodes).view({-1, heads_, per_head_});
  const torch::Tensor by_source = (values * of_source_).sum(-1);
  const torch::Tensor by_target = (values * of_target_).sum(-1);
  const torch::Tensor scores = torch::leaky_relu(
      by_source.index_select(0, links.sources) + by_target.index_select(0, links.targets),
      kNegativeSlope);
  const torch::Tensor shares = softmax_over_sources(scores, links);
  const torch::Tensor messages =
      values.index_select(0, links.sources) * shares.unsqueeze(-1);  // [links, heads, per_head]
  return torch::zeros({links.nodes, heads_ * per_head_}, messages.options())
             .index_add(0, links.targets, messages.flatten(1)) +
         bias_;
}

torch::Tensor GraphAttentionImpl::forward(const torch::Tensor& nodes, const Links& links,
                                          Activations activations) {
  if (activations == Activations::kept) return forward(nodes, links);
  return checkpointed([this, links](const torch::Tensor& input) { return forward(input, links); },
                      nodes, parameters());
}

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

namespace {

constexpr std::size_t kChunk = 500;

}  // namespace

std::vector<float> score_graphs(Vgae& network, const GraphStore& store,
                                std::span<const std::size_t> graphs, DifficultyScoring scoring,
                                std::size_t step_graphs, const at::Device& device,
                                DeviceMemory& memory) {
  const torch::NoGradGuard no_grad;
  network->eval();
  std::vector<float> scores;
  scores.reserve(graphs.size());
  const std::size_t at_once =
      scoring == DifficultyScoring::batched ? std::min(kChunk, step_graphs) : 1;
  for (std::size_t first = 0; first < graphs.size(); first += at_once) {
    const GraphBatch batch =
        make_batch(store, graphs.subspan(first, std::min(at_once, graphs.size() - first)))
            .on(device);
    const torch::Tensor errors =
        reconstruction_errors(network->forward(batch), batch).to(torch::kCPU).contiguous();
    scores.insert(scores.end(), errors.data_ptr<float>(),
                  errors.data_ptr<float>() + errors.numel());
    const bool ends_chunk = scores.size() % kChunk == 0 || scores.size() == graphs.size();
    if (scoring == DifficultyScoring::chunked && ends_chunk) memory.empty_cache();
  }
  return scores;
}

}  // namespace memduel
