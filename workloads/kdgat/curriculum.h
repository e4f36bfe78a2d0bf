// Batches that say what a training on graphs takes at most. Graphs differ in size, so batches of as
// many graphs do; what a training must have memory for is the largest that it will meet.
#pragma once

#include <cstdint>

#include "workloads/datasets/partition.h"
#include "workloads/datasets/random.h"
#include "workloads/graphs/graph_file.h"

namespace memduel {

/// Of the batches that a step is tried with, each is the heaviest of so many.
inline constexpr std::size_t kTriedDraws = 1000;

/// Nodes and edges of the graph that is the mean of these.
struct MeanGraph {
  double nodes = 0;
  double edges = 0;
};
MeanGraph mean_graph(const GraphStore& store, const Indices& graphs);

/// Of two populations that with the larger graphs, by nodes and edges of the mean.
Indices heavier(const GraphStore& store, Indices a, Indices b);

class HeavyBatches {
 public:
  /// @param graphs that batches are drawn from, at least one.
  HeavyBatches(const GraphStore& store, Indices graphs, std::uint64_t seed);

  /// Of `draws` random batches that with the most nodes and edges. A batch has no graph twice;
  /// where `count` exceeds the graphs, it has each as often as that fills it and draws the rest.
  Indices heaviest(std::size_t count, std::size_t draws);

  /// The same of as many batches as an epoch has, at least one.
  Indices heaviest_of_epoch(std::size_t count);

 private:
  Indices graphs_;
  std::vector<std::size_t> sizes_;  ///< of each, nodes and edges
  Indices order_;                   ///< 0 … graphs - 1, as the last draw left it
  RandomEngine engine_;
};

}  // namespace memduel
