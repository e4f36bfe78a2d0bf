// Several graphs as one, which falls into parts: nodes and edges one graph after the other.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <span>

#include "workloads/graphs/graph_file.h"

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

}  // namespace memduel
