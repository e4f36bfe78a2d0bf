// Which graphs a training learns from: its split, the curriculum of its epochs, and the batches
// that say what it takes at most.

#include "curriculum.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "data/random.h"
#include "util/error.h"

namespace memduel {
namespace {

constexpr double kTrainShare = 0.8;

}  // namespace

TrainingGraphs split_graphs(const GraphStore& store, std::uint64_t seed,
                            const std::filesystem::path& file) {
  const auto train_count =
      static_cast<std::size_t>(static_cast<double>(store.size()) * kTrainShare);
  const Split split = split_train_validation(store.size(), train_count, seed);
  TrainingGraphs graphs;
  graphs.validation = split.validation;
  for (const std::size_t place : split.train)
    (store.graph(place).label == 0 ? graphs.normals : graphs.attacks).push_back(place);
  if (graphs.normals.empty() || graphs.attacks.empty() || graphs.validation.empty())
    throw Error(
        ExitCode::usage,
        fmt::format("expected training graphs without and with an attack, and validation graphs, "
                    "found {}, {} and {}",
                    graphs.normals.size(), graphs.attacks.size(), graphs.validation.size()),
        file.string(), "use a longer recording, or inject attacks");
  return graphs;
}

namespace {

// KD-GAT's.
constexpr double kFirstRatio = 1.0;
constexpr double kLastRatio = 10.0;
constexpr double kFirstPercentile = 75;
constexpr double kLastPercentile = 95;

double between(double first, double last, double progress) {
  return first + (last - first) * progress;
}

}  // namespace

Indices shuffled(const Indices& graphs, std::uint64_t seed) {
  RandomEngine engine(seed);
  Indices result;
  for (const std::size_t place : random_order(graphs.size(), engine))
    result.push_back(graphs[place]);
  return result;
}

Indices Curriculum::hard_normals(double percentile) const {
  std::vector<float> ascending = scores_;
  std::ranges::sort(ascending);
  const auto place =
      static_cast<std::size_t>(static_cast<double>(ascending.size()) * percentile / 100);
  Indices hard;
  for (std::size_t i = 0; i < normals_.size(); ++i)
    if (scores_[i] >= ascending[place]) hard.push_back(normals_[i]);
  return hard;
}

Indices Curriculum::graphs_of(int epoch, int epochs, std::uint64_t seed) const {
  const double progress = std::min(static_cast<double>(epoch) / epochs, 1.0);
  Indices graphs;
  if (!normals_.empty())
    graphs = hard_normals(between(kFirstPercentile, kLastPercentile, progress));
  const auto most = static_cast<std::size_t>(static_cast<double>(attacks_.size()) *
                                             between(kFirstRatio, kLastRatio, progress));
  if (graphs.size() > most) graphs.resize(most);
  graphs.insert(graphs.end(), attacks_.begin(), attacks_.end());
  return shuffled(graphs, seed);
}

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
