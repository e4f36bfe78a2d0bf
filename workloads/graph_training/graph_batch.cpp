#include "workloads/graph_training/graph_batch.h"

#include <algorithm>

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

}  // namespace memduel
