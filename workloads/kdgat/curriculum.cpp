#include "workloads/graph_training/heavy_batches.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace memduel {

MeanGraph mean_graph(const GraphStore& store, const Indices& graphs) {
  MeanGraph mean;
  for (const std::size_t index : graphs) {
    const GraphView graph = store.graph(index);
    mean.nodes += static_cast<double>(graph.nodes());
    mean.edges += static_cast<double>(graph.edges());
  }
  const auto count = static_cast<double>(graphs.size());
  return {mean.nodes / count, mean.edges / count};
}

Indices heavier(const GraphStore& store, Indices a, Indices b) {
  const auto size = [&](const Indices& graphs) {
    const MeanGraph mean = mean_graph(store, graphs);
    return mean.nodes + mean.edges;
  };
  return size(b) > size(a) ? std::move(b) : std::move(a);
}

HeavyBatches::HeavyBatches(const GraphStore& store, Indices graphs, std::uint64_t seed)
    : graphs_(std::move(graphs)), order_(graphs_.size()), engine_(seed) {
  for (const std::size_t index : graphs_) {
    const GraphView graph = store.graph(index);
    sizes_.push_back(graph.nodes() + graph.edges());
  }
  std::iota(order_.begin(), order_.end(), 0);
}

Indices HeavyBatches::heaviest(std::size_t count, std::size_t draws) {
  Indices batch;
  for (std::size_t i = 0; i < count / graphs_.size(); ++i)
    batch.insert(batch.end(), graphs_.begin(), graphs_.end());
  const auto rest = static_cast<std::ptrdiff_t>(count % graphs_.size());
  Indices best;
  std::size_t best_size = 0;
  for (std::size_t draw = 0; draw < draws; ++draw) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rest); ++i) {
      std::swap(order_[i], order_[i + uniform_below(engine_, order_.size() - i)]);
      size += sizes_[order_[i]];
    }
    if (size <= best_size) continue;
    best_size = size;
    best.assign(order_.begin(), order_.begin() + rest);
  }
  for (const std::size_t place : best) batch.push_back(graphs_[place]);
  return batch;
}

Indices HeavyBatches::heaviest_of_epoch(std::size_t count) {
  return heaviest(count, std::max<std::size_t>(graphs_.size() / count, 1));
}

}  // namespace memduel
