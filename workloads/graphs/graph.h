// A window of bus traffic as a graph: identifiers are nodes, "followed by" is an edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace memduel {

inline constexpr std::size_t kNodeFeatures = 11;
inline constexpr std::size_t kEdgeFeatures = 11;

/// What a training reads of a graph; it lies elsewhere.
struct GraphView {
  std::span<const float> node_features;      ///< [nodes, kNodeFeatures]
  std::span<const std::int64_t> edge_index;  ///< [2, edges]: sources, then targets
  std::span<const float> edge_features;      ///< [edges, kEdgeFeatures]
  std::int64_t label = 0;                    ///< 1 when a frame of the window was injected

  [[nodiscard]] std::size_t nodes() const { return node_features.size() / kNodeFeatures; }
  [[nodiscard]] std::size_t edges() const { return edge_index.size() / 2; }
};

/// The same with its own memory.
struct Graph {
  std::vector<float> node_features;
  std::vector<std::int64_t> edge_index;
  std::vector<float> edge_features;
  std::int64_t label = 0;

  [[nodiscard]] GraphView view() const { return {node_features, edge_index, edge_features, label}; }
};

}  // namespace memduel
