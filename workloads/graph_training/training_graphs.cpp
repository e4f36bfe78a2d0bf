#include "workloads/graph_training/training_graphs.h"

#include <fmt/format.h>

#include "base/error.h"

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
    throw Error(ExitCode::usage,
                fmt::format("found {} graphs to train on without and {} with an attack and {} to "
                            "validate with, expected some of each",
                            graphs.normals.size(), graphs.attacks.size(), graphs.validation.size()),
                file.string(), "take a longer recording, or inject attacks");
  return graphs;
}

}  // namespace memduel
