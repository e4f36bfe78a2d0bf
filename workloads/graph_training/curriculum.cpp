#include "workloads/graph_training/curriculum.h"

#include <algorithm>

#include "workloads/datasets/random.h"

namespace memduel {
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

}  // namespace memduel
